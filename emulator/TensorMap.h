// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Tensor maps as the emulator encodes them: 128 bytes that hold what cuTensorMapEncodeTiled is
// given, in a form of our own. A device's own encoding is opaque, so PTX cannot tell.
#ifndef FOVEA_EMULATOR_TENSORMAP_H
#define FOVEA_EMULATOR_TENSORMAP_H

#include <array>
#include <cstdint>

namespace fovea::emulator {

struct TensorMap {
  enum class Swizzle : uint8_t { None, B32, B64, B128 };
  uint32_t rank = 1;                   ///< 1 to 5
  uint32_t elementBytes = 2;           ///< 1, 2, 4 or 8
  uint64_t address = 0;                ///< of the tensor, a multiple of 16
  uint64_t sizes[5] = {1, 1, 1, 1, 1}; ///< elements along each axis, the innermost first
  uint64_t strides[4] = {}; ///< bytes between neighbours along axis 1 and up, multiples of 16
  uint32_t box[5] = {1, 1, 1, 1, 1}; ///< elements of a copy, at most 256 along each axis
  Swizzle swizzle = Swizzle::None;
  bool fillNan = false; ///< what is outside becomes NaN instead of zero

  /// Of 0, 32, 64 or 128 bytes.
  static Swizzle swizzleOf(uint64_t bytes) {
    return bytes == 128  ? Swizzle::B128
           : bytes == 64 ? Swizzle::B64
           : bytes == 32 ? Swizzle::B32
                         : Swizzle::None;
  }
  uint64_t boxBytes() const;
  /// Throws Error if a rule of cuTensorMapEncodeTiled is broken.
  std::array<uint8_t, 128> encode() const;
  /// Whether `bytes` are an encoded map; then `map` is it.
  static bool decode(const uint8_t *bytes, TensorMap &map);
};

/// Where a swizzle of `span` bytes (0, 32, 64 or 128) puts the byte at shared address `address`:
/// bits 4 and up are combined with bits 7 and up (PTX ISA 9.0, "Swizzling Modes").
inline uint64_t swizzled(uint64_t address, uint32_t span) {
  uint32_t bits = span == 128 ? 7 : span == 64 ? 3 : span == 32 ? 1 : 0;
  return address ^ (address >> 7 & bits) << 4;
}

} // namespace fovea::emulator

#endif // FOVEA_EMULATOR_TENSORMAP_H
