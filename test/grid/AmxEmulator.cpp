// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Encodings and operations: Intel 64 and IA-32 Architectures Software Developer's Manual, volume 2.
#include "test/grid/AmxEmulator.h"
#include "llvm/TargetParser/Host.h"
#include <csignal>
#include <cstdint>
#include <cstring>
#include <sys/syscall.h>
#include <ucontext.h>
#include <unistd.h>

namespace {

constexpr int kTiles = 8, kRows = 16, kBytes = 64;

struct Tiles {
  bool configured = false;
  uint8_t rows[kTiles] = {};
  uint16_t bytes[kTiles] = {};
  alignas(64) uint8_t data[kTiles][kRows][kBytes] = {};
};
thread_local Tiles tiles;

/// An instruction of map 0F38 with a three-byte VEX prefix and vectors of 128 bits, as all are.
struct Instruction {
  uint8_t prefix, opcode, mod, reg, rm, third; ///< prefix: 0 none, 1 66, 2 F3, 3 F2
  uint64_t address = 0, index = 0;             ///< of memory; the index register, scaled
  uint64_t length;
};

uint64_t getRegister(const mcontext_t &machine, int number) {
  static constexpr int kNames[] = {REG_RAX, REG_RCX, REG_RDX, REG_RBX, REG_RSP, REG_RBP,
                                   REG_RSI, REG_RDI, REG_R8,  REG_R9,  REG_R10, REG_R11,
                                   REG_R12, REG_R13, REG_R14, REG_R15};
  return static_cast<uint64_t>(machine.gregs[kNames[number]]);
}

/// What a register holds as an address.
uint8_t *pointer(uint64_t address) {
  return reinterpret_cast<uint8_t *>(address); // NOLINT(performance-no-int-to-ptr): it is one
}

template <typename T> T read(const uint8_t *at) {
  T value;
  std::memcpy(&value, at, sizeof(T));
  return value;
}

/// False if it is none of map 0F38.
bool decode(const mcontext_t &machine, Instruction &result) {
  const uint8_t *begin = pointer(static_cast<uint64_t>(machine.gregs[REG_RIP])), *at = begin;
  if (at[0] != 0xc4 || (at[1] & 0x1f) != 2 || (at[2] & 0x84) != 0)
    return false;
  bool b = !(at[1] & 0x20), x = !(at[1] & 0x40), r = !(at[1] & 0x80);
  result.prefix = at[2] & 3;
  result.third = (~at[2] >> 3) & 15;
  result.opcode = at[3];
  uint8_t modrm = at[4];
  at += 5;
  result.mod = modrm >> 6;
  result.reg = (modrm >> 3 & 7) | (r ? 8 : 0);
  result.rm = modrm & 7;
  if (result.mod != 3) {
    uint8_t base = result.rm;
    bool hasBase = true;
    if (base == 4) {
      uint8_t sib = *at++;
      int index = (sib >> 3 & 7) | (x ? 8 : 0);
      if (index != 4)
        result.index = getRegister(machine, index) << (sib >> 6);
      base = sib & 7;
    } else if (base == 5 && result.mod == 0) {
      return false; // relative to the instruction
    }
    if (base == 5 && result.mod == 0)
      hasBase = false;
    if (hasBase)
      result.address = getRegister(machine, base | (b ? 8 : 0));
    if (result.mod == 1) {
      result.address += static_cast<uint64_t>(int64_t{read<int8_t>(at)});
      at += 1;
    } else if (result.mod == 2 || !hasBase) {
      result.address += static_cast<uint64_t>(int64_t{read<int32_t>(at)});
      at += 4;
    }
  }
  result.length = static_cast<uint64_t>(at - begin);
  return true;
}

bool configure(const Instruction &i) {
  const uint8_t *from = pointer(i.address + i.index);
  tiles = Tiles();
  if (from[0] != 1)
    return false;
  tiles.configured = true;
  for (int tile = 0; tile < kTiles; ++tile) {
    tiles.bytes[tile] = read<uint16_t>(from + 16 + 2 * tile);
    tiles.rows[tile] = from[48 + tile];
    if (tiles.bytes[tile] > kBytes || tiles.rows[tile] > kRows ||
        (tiles.bytes[tile] == 0) != (tiles.rows[tile] == 0))
      return false;
  }
  return true;
}

bool isUsable(int tile) { return tiles.configured && tile < kTiles && tiles.rows[tile] != 0; }

bool move(const Instruction &i, bool store) {
  if (!isUsable(i.reg))
    return false;
  for (int row = 0; row < tiles.rows[i.reg]; ++row) {
    uint8_t *memory = pointer(i.address + i.index * static_cast<uint64_t>(row));
    if (store)
      std::memcpy(memory, tiles.data[i.reg][row], tiles.bytes[i.reg]);
    else
      std::memcpy(tiles.data[i.reg][row], memory, tiles.bytes[i.reg]);
  }
  if (!store) // what a load does not reach is zero
    for (int row = 0; row < kRows; ++row)
      std::memset(tiles.data[i.reg][row] + (row < tiles.rows[i.reg] ? tiles.bytes[i.reg] : 0), 0,
                  kBytes - (row < tiles.rows[i.reg] ? tiles.bytes[i.reg] : 0));
  return true;
}

/// A bf16; subnormal ones are zero.
float widen(uint16_t half) {
  uint32_t bits = static_cast<uint32_t>(half) << 16;
  if ((bits & 0x7f800000) == 0)
    bits &= 0x80000000;
  float value;
  std::memcpy(&value, &bits, 4);
  return value;
}

/// Whether registers fit each other in a product.
bool areProduct(int sum, int left, int right) {
  return isUsable(sum) && isUsable(left) && isUsable(right) && sum != left && sum != right &&
         left != right && tiles.rows[left] == tiles.rows[sum] &&
         tiles.bytes[right] == tiles.bytes[sum] && tiles.bytes[left] / 4 == tiles.rows[right];
}

/// Sums of even and of odd k are apart until the end.
bool multiplyBf16(int sum, int left, int right) {
  if (!areProduct(sum, left, right))
    return false;
  for (int m = 0; m < tiles.rows[sum]; ++m)
    for (int n = 0; n < tiles.bytes[sum] / 4; ++n) {
      float parts[2] = {0, 0};
      for (int k = 0; k < tiles.bytes[left] / 4; ++k)
        for (int half = 0; half < 2; ++half)
          parts[half] = __builtin_fmaf(
              widen(read<uint16_t>(&tiles.data[left][m][4 * k + 2 * half])),
              widen(read<uint16_t>(&tiles.data[right][k][4 * n + 2 * half])), parts[half]);
      float before = read<float>(&tiles.data[sum][m][4 * n]);
      float after = before + (parts[0] + parts[1]);
      std::memcpy(&tiles.data[sum][m][4 * n], &after, 4);
    }
  return true;
}

/// Unsigned bytes by signed ones.
bool multiplyBytes(int sum, int left, int right) {
  if (!areProduct(sum, left, right))
    return false;
  for (int m = 0; m < tiles.rows[sum]; ++m)
    for (int n = 0; n < tiles.bytes[sum] / 4; ++n) {
      auto total = read<uint32_t>(&tiles.data[sum][m][4 * n]);
      for (int k = 0; k < tiles.bytes[left]; ++k) {
        int product =
            tiles.data[left][m][k] * read<int8_t>(&tiles.data[right][k / 4][4 * n + k % 4]);
        total += static_cast<uint32_t>(product);
      }
      std::memcpy(&tiles.data[sum][m][4 * n], &total, 4);
    }
  return true;
}

/// False if it is no instruction of AMX, or breaks one of its rules.
bool execute(const Instruction &i) {
  if (i.opcode == 0x49 && i.prefix == 0 && i.mod != 3)
    return configure(i);
  if (i.opcode == 0x49 && i.prefix == 0) {
    tiles = Tiles();
    return true;
  }
  if (i.opcode == 0x49 && i.prefix == 3 && i.mod == 3) {
    if (!isUsable(i.reg))
      return false;
    std::memset(tiles.data[i.reg], 0, sizeof(tiles.data[i.reg]));
    return true;
  }
  if (i.opcode == 0x4b && i.mod != 3 && i.prefix != 0)
    return move(i, /*store=*/i.prefix == 2);
  if (i.opcode == 0x5c && i.prefix == 2 && i.mod == 3)
    return multiplyBf16(i.reg, i.rm, i.third);
  if (i.opcode == 0x5e && i.prefix == 1 && i.mod == 3)
    return multiplyBytes(i.reg, i.rm, i.third);
  return false;
}

struct sigaction before;

void onTrap(int signal, siginfo_t *, void *given) {
  auto &context = *static_cast<ucontext_t *>(given);
  Instruction instruction;
  if (decode(context.uc_mcontext, instruction) && execute(instruction)) {
    context.uc_mcontext.gregs[REG_RIP] += static_cast<int64_t>(instruction.length);
    return;
  }
  // It traps again, with nobody to catch it.
  ::sigaction(signal, &before, nullptr);
}

} // namespace

void mlir::fovea::test::provideAmx() {
  static const bool done = [] {
    if (llvm::sys::getHostCPUFeatures().lookup("amx-bf16"))
      return ::syscall(SYS_arch_prctl, /*ARCH_REQ_XCOMP_PERM*/ 0x1023, /*XTILEDATA*/ 18) == 0;
    struct sigaction action = {};
    action.sa_sigaction = onTrap;
    action.sa_flags = SA_SIGINFO;
    return ::sigaction(SIGILL, &action, &before) == 0;
  }();
  (void)done;
}
