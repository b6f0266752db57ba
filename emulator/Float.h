// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Conversions between f32 and the narrow floats, without branches so that loops over lanes
// vectorise. Rounding is to nearest, ties to even, unless said otherwise.
#ifndef FOVEA_EMULATOR_FLOAT_H
#define FOVEA_EMULATOR_FLOAT_H

#include <cstdint>
#include <cstring>

namespace fovea::emulator {

template <typename To, typename From> inline To bitsAs(From from) {
  static_assert(sizeof(To) == sizeof(From));
  To to;
  std::memcpy(&to, &from, sizeof(To));
  return to;
}

inline float fromBf16(uint16_t bits) { return bitsAs<float>(uint32_t{bits} << 16); }

/// NaN becomes 0x7fff, PTX's canonical one.
inline uint16_t toBf16(float value) {
  uint32_t bits = bitsAs<uint32_t>(value);
  uint32_t rounded = (bits + 0x7fff + (bits >> 16 & 1)) >> 16;
  return (bits & 0x7fffffff) > 0x7f800000 ? 0x7fff : static_cast<uint16_t>(rounded);
}

inline float fromF16(uint16_t half) {
  // Exponent and mantissa moved up, then scaled by 2^112, which also normalises denormals.
  uint32_t magnitude = uint32_t{half & 0x7fffu} << 13;
  float scaled = bitsAs<float>(magnitude) * 0x1p112f;
  uint32_t bits = bitsAs<uint32_t>(scaled);
  bits = magnitude >= 0x0f800000 ? bits | 0x7f800000 : bits;
  return bitsAs<float>(bits | uint32_t{half & 0x8000u} << 16);
}

/// Overflow becomes infinity, NaN 0x7fff.
inline uint16_t toF16(float value) {
  uint32_t bits = bitsAs<uint32_t>(value), sign = bits >> 16 & 0x8000;
  bits &= 0x7fffffff;
  // Normal: rebias and round. Denormal: let an addition align and round the mantissa.
  uint32_t normal = (bits - (112u << 23) + 0xfff + (bits >> 13 & 1)) >> 13;
  uint32_t denormal = bitsAs<uint32_t>(bitsAs<float>(bits) + 0.5f) - 0x3f000000;
  uint32_t result = bits < 0x38800000 ? denormal : normal;
  result = bits >= 0x47800000 ? 0x7c00 : result;
  result = result > 0x7c00 ? 0x7c00 : result;
  result = bits > 0x7f800000 ? 0x7fff : result;
  return static_cast<uint16_t>(bits > 0x7f800000 ? result : result | sign);
}

/// f32 rounded to the 10 bits of tf32 that tensor cores read; they ignore the others.
inline float truncateTf32(uint32_t bits) { return bitsAs<float>(bits & 0xffffe000u); }

/// E4M3 (no infinity, NaN is 0x7f) and E5M2 (like IEEE) to f32.
inline float fromE4M3(uint8_t bits) {
  unsigned exponent = bits >> 3 & 15, mantissa = bits & 7;
  float magnitude = exponent ? (1.0f + mantissa / 8.0f) : mantissa / 8.0f;
  int power = exponent ? static_cast<int>(exponent) - 7 : -6;
  float value = magnitude * bitsAs<float>(static_cast<uint32_t>(power + 127) << 23);
  if ((bits & 0x7f) == 0x7f)
    value = bitsAs<float>(0x7fffffffu);
  return bits & 0x80 ? -value : value;
}
inline float fromE5M2(uint8_t bits) { return fromF16(static_cast<uint16_t>(bits << 8)); }
/// With .satfinite, as PTX requires: too large becomes the largest finite number. NaN stays NaN.
uint8_t toE4M3(float value);
uint8_t toE5M2(float value);

} // namespace fovea::emulator

#endif // FOVEA_EMULATOR_FLOAT_H
