// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// What loads, stores and atomics share: addresses of lanes, state spaces, and counters of sectors
// and bank conflicts.
#ifndef FOVEA_EMULATOR_LOADSTORE_H
#define FOVEA_EMULATOR_LOADSTORE_H

#include "emulator/Block.h"
#include "emulator/Decode.h"
#include "emulator/Warp.h"

namespace fovea::emulator {

/// Instruction::flags of accesses.
enum AccessFlags : uint8_t { WideAddress = 1, Strong = 2, Acquires = 4, Releases = 8 };

/// Addresses of all lanes: base, `in.a`, plus `in.immediate`.
inline void laneAddresses(Warp &warp, const Instruction &in, uint64_t *addresses) {
  if (in.flags & WideAddress) {
    const uint64_t *base = warp.lanes<uint64_t>(in.a);
    for (int lane = 0; lane < 32; ++lane)
      addresses[lane] = base[lane] + static_cast<uint64_t>(in.immediate);
  } else {
    const uint32_t *base = warp.lanes<uint32_t>(in.a);
    for (int lane = 0; lane < 32; ++lane)
      addresses[lane] = static_cast<uint32_t>(base[lane] + static_cast<uint32_t>(in.immediate));
  }
}

/// The space a generic address lies in; `address` becomes one of that space.
inline Space resolve(uint64_t &address) {
  if (address - sharedWindow < 3 * (localWindow - sharedWindow)) {
    if (address - sharedWindow < windowBytes) {
      address -= sharedWindow;
      return Space::Shared;
    }
    if (address - localWindow < windowBytes) {
      address -= localWindow;
      return Space::Local;
    }
    if (address - parameterWindow < windowBytes) {
      address -= parameterWindow;
      return Space::Param;
    }
  }
  return Space::Global;
}

/// Counts the sectors of 32 bytes that an access to global memory touches.
void countSectors(Block &block, const Instruction &in, uint32_t mask, const uint64_t *addresses,
                  uint32_t bytes, bool load);
/// Counts the passes over 32 banks of four bytes that an access to shared memory takes: lanes go in
/// groups of 128 bytes, words that several lanes want count once.
void countBanks(Block &block, const Instruction &in, uint32_t mask, const uint64_t *addresses,
                uint32_t bytes, bool load);

/// What atomics and bulk reductions do to the number that they meet.
enum class AtomicOp : uint8_t { Add, Min, Max, And, Or, Xor, Exch, Cas, Inc, Dec };

template <typename T> T combine(AtomicOp op, T old, T value) {
  switch (op) {
  case AtomicOp::Add:
    return static_cast<T>(old + value);
  case AtomicOp::Min:
    return value < old ? value : old;
  case AtomicOp::Max:
    return value > old ? value : old;
  default:
    break;
  }
  if constexpr (std::is_integral_v<T>)
    return op == AtomicOp::And   ? old & value
           : op == AtomicOp::Or  ? old | value
           : op == AtomicOp::Xor ? old ^ value
                                 : value;
  return value;
}
/// The same for the bits of a type; bits of any by And, Or and Xor. Nothing if it has no
/// arithmetic.
std::optional<uint64_t> combineBits(AtomicOp op, Type type, uint64_t old, uint64_t value);

/// Decodes `[address]` into a, immediate and flags.
void decodeAddress(Decoder &d, const Operand &operand, Space space);

} // namespace fovea::emulator

#endif // FOVEA_EMULATOR_LOADSTORE_H
