// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// ldmatrix, stmatrix and movmatrix of 8 x 8 matrices of 16 bits (PTX ISA 9.0, "ldmatrix"): lane l
// gives the address of row l % 8 of matrix l / 8; a lane's register holds row lane / 4, columns
// 2 (lane % 4) and the next, transposed with .trans.
#include "emulator/LoadStore.h"
#include "emulator/Matrix.h"

namespace fovea::emulator {

namespace {
struct Matrices : Details {
  std::vector<uint32_t> registers;
  Space space = Space::Shared;
  bool transposed = false;
};

/// Offsets into shared memory of the rows; counts banks.
void rows(Warp &warp, const Instruction &in, const Matrices &m, uint64_t *offsets, bool load) {
  Block &block = warp.block;
  uint64_t addresses[32];
  laneAddresses(warp, in, addresses);
  unsigned count = 8 * static_cast<unsigned>(m.registers.size());
  for (unsigned lane = 0; lane < count; ++lane) {
    if (m.space == Space::Generic && resolve(addresses[lane]) != Space::Shared)
      warp.fault(lane, "expects an address in shared memory");
    offsets[lane] =
        block.sharedOffset(warp, lane, addresses[lane], 16, 16, load ? "reads" : "writes");
  }
  if (block.launch.options.count)
    countBanks(block, in, count == 32 ? ~0u : (1u << count) - 1, addresses, 16, load);
}

Step load(Warp &warp, const Instruction &in, uint32_t mask) {
  const Matrices &m = *static_cast<const Matrices *>(in.details);
  requireWholeWarp(warp, in, mask);
  uint64_t offsets[32];
  rows(warp, in, m, offsets, true);
  for (unsigned matrix = 0; matrix < m.registers.size(); ++matrix) {
    uint16_t values[8][8];
    for (unsigned row = 0; row < 8; ++row) {
      Access access = warp.block.access(warp, manyLanes);
      warp.block.readShared(warp, 8 * matrix + row, offsets[8 * matrix + row], values[row], 16,
                            access);
    }
    uint32_t *d = warp.lanes<uint32_t>(m.registers[matrix]);
    for (unsigned lane = 0; lane < 32; ++lane) {
      unsigned i = lane / 4, j = 2 * (lane % 4);
      d[lane] = m.transposed ? values[j][i] | uint32_t{values[j + 1][i]} << 16
                             : values[i][j] | uint32_t{values[i][j + 1]} << 16;
    }
  }
  return Step::Next;
}

void spread(const Matrices &m, const uint32_t *from, uint16_t (&values)[8][8]) {
  for (unsigned lane = 0; lane < 32; ++lane) {
    unsigned i = lane / 4, j = 2 * (lane % 4);
    uint16_t low = static_cast<uint16_t>(from[lane]),
             high = static_cast<uint16_t>(from[lane] >> 16);
    (m.transposed ? values[j][i] : values[i][j]) = low;
    (m.transposed ? values[j + 1][i] : values[i][j + 1]) = high;
  }
}

Step store(Warp &warp, const Instruction &in, uint32_t mask) {
  const Matrices &m = *static_cast<const Matrices *>(in.details);
  requireWholeWarp(warp, in, mask);
  uint64_t offsets[32];
  rows(warp, in, m, offsets, false);
  for (unsigned matrix = 0; matrix < m.registers.size(); ++matrix) {
    uint16_t values[8][8];
    spread(m, warp.lanes<uint32_t>(m.registers[matrix]), values);
    for (unsigned row = 0; row < 8; ++row) {
      Access access = warp.block.access(warp, manyLanes);
      warp.block.writeShared(warp, 8 * matrix + row, offsets[8 * matrix + row], values[row], 16,
                             access);
    }
  }
  return Step::Next;
}

Step transpose(Warp &warp, const Instruction &in, uint32_t mask) {
  requireWholeWarp(warp, in, mask);
  uint16_t values[8][8];
  spread({}, warp.lanes<uint32_t>(in.a), values);
  uint32_t *d = warp.lanes<uint32_t>(in.d);
  for (unsigned lane = 0; lane < 32; ++lane) {
    unsigned i = lane / 4, j = 2 * (lane % 4);
    d[lane] = values[j][i] | uint32_t{values[j + 1][i]} << 16;
  }
  return Step::Next;
}

template <bool Load> void matrices(Decoder &d) {
  d.requireArchitecture(Load ? 75 : 90);
  if (!d.take("sync") || !d.take("aligned") || !d.take("m8n8"))
    d.unsupported();
  int number = d.takeOneOf({"x1", "x2", "x4"});
  Matrices &m = d.addDetails<Matrices>();
  m.transposed = d.take("trans");
  m.space = d.takeSpace();
  if (number < 0 || d.lastType() != Type::B16 ||
      (m.space != Space::Shared && m.space != Space::Generic))
    d.unsupported();
  d.requireCount(2, 2);
  decodeAddress(d, d.operand(Load ? 1 : 0), m.space);
  m.registers = registerList(d, d.operand(Load ? 0 : 1), size_t{1} << number, Load);
  d.sharedAccess(m.space, 16);
  d.setHandler(Load ? load : store);
}

void movmatrix(Decoder &d) {
  if (!d.take("sync") || !d.take("aligned") || !d.take("m8n8") || !d.take("trans") ||
      d.lastType() != Type::B16)
    d.unsupported();
  d.takeOperands({Type::B32}, 32);
  d.setHandler(transpose);
}
} // namespace

void addMatrixMoves(DecodeTable &table) {
  table["ldmatrix"] = matrices<true>;
  table["stmatrix"] = matrices<false>;
  table["movmatrix"] = movmatrix;
}

} // namespace fovea::emulator
