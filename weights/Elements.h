// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Elements of stored tensors as numbers, for the recipes that compute.
#ifndef FOVEA_WEIGHTS_ELEMENTS_H
#define FOVEA_WEIGHTS_ELEMENTS_H

#include "mlir/IR/BuiltinTypes.h"
#include "llvm/ADT/APFloat.h"
#include "llvm/ADT/bit.h"
#include <cstring>

namespace mlir::fovea {

template <typename T> T loadValue(const char *at) {
  T value;
  std::memcpy(&value, at, sizeof(T));
  return value;
}

inline float asFloat(uint32_t bits) { return llvm::bit_cast<float>(bits); }
inline uint32_t asBits(float value) { return llvm::bit_cast<uint32_t>(value); }

/// The element types of recipes, each with a way to read and to write one element. 16-bit types are
/// read as f32, which holds all of their values; writing rounds to nearest even, once. Loops over
/// these have no branch and vectorise, but for f64 to 16 bits.
struct F64Element {
  using Wide = double;
  static constexpr int64_t kSize = 8;
  static double load(const char *at) { return loadValue<double>(at); }
  static void store(double value, char *at) { std::memcpy(at, &value, 8); }
};

struct F32Element {
  using Wide = float;
  static constexpr int64_t kSize = 4;
  static float load(const char *at) { return loadValue<float>(at); }
  static void store(double value, char *at) { store(static_cast<float>(value), at); }
  static void store(float value, char *at) { std::memcpy(at, &value, 4); }
};

/// f64 to 16 bits in one rounding.
inline void storeRounded(const llvm::fltSemantics &semantics, double value, char *at) {
  llvm::APFloat number(value);
  bool lost;
  number.convert(semantics, llvm::APFloat::rmNearestTiesToEven, &lost);
  uint16_t bits = static_cast<uint16_t>(number.bitcastToAPInt().getZExtValue());
  std::memcpy(at, &bits, 2);
}

struct BF16Element {
  using Wide = float;
  static constexpr int64_t kSize = 2;
  static float load(const char *at) { return asFloat(uint32_t(loadValue<uint16_t>(at)) << 16); }
  static void store(double value, char *at) { storeRounded(llvm::APFloat::BFloat(), value, at); }
  static void store(float value, char *at) {
    uint32_t bits = asBits(value);
    uint32_t rounded = bits + 0x7fff + ((bits >> 16) & 1); // half, or a bit less for even
    bool isNan = (bits & 0x7fffffff) > 0x7f800000;
    uint16_t result = static_cast<uint16_t>((isNan ? bits | 0x00400000 : rounded) >> 16);
    std::memcpy(at, &result, 2);
  }
};

struct F16Element {
  using Wide = float;
  static constexpr int64_t kSize = 2;
  static float load(const char *at) {
    uint32_t bits = loadValue<uint16_t>(at);
    // The exponent's bias is 15 here and 127 in f32: times 2^112 is exact, for subnormals too.
    // Infinities and NaNs keep their mantissa and get the highest exponent.
    uint32_t magnitude = (bits & 0x7fff) << 13;
    uint32_t scaled = asBits(asFloat(magnitude) * asFloat(uint32_t(127 + 112) << 23));
    scaled |= magnitude >= (uint32_t(31) << 23) ? 0x7f800000u : 0u;
    return asFloat(scaled | (bits & 0x8000) << 16);
  }
  static void store(double value, char *at) { storeRounded(llvm::APFloat::IEEEhalf(), value, at); }
  static void store(float value, char *at) {
    uint32_t bits = asBits(value);
    uint32_t sign = (bits >> 16) & 0x8000;
    uint32_t magnitude = bits & 0x7fffffff;
    // Below 2^-14 the result's last place is 2^-24, which is that of a f32 between 0.5 and 1.
    uint32_t small = asBits(asFloat(magnitude) + 0.5f) - asBits(0.5f);
    // Else 13 bits are rounded off; a carry goes into the exponent, at the end to infinity.
    uint32_t normal = (magnitude - (uint32_t(112) << 23) + 0xfff + ((magnitude >> 13) & 1)) >> 13;
    uint32_t special = magnitude > 0x7f800000 ? 0x7e00 | ((magnitude >> 13) & 0x3ff) : 0x7c00;
    uint32_t finite = magnitude < (uint32_t(127 - 14) << 23) ? small : normal;
    uint16_t result =
        static_cast<uint16_t>(sign | (magnitude < (uint32_t(127 + 16) << 23) ? finite : special));
    std::memcpy(at, &result, 2);
  }
};

/// Calls `action` with the element type of a recipe's `type`.
template <typename Action> void withElement(Type type, Action action) {
  if (type.isF64())
    action(F64Element());
  else if (type.isF32())
    action(F32Element());
  else if (type.isBF16())
    action(BF16Element());
  else
    action(F16Element());
}

} // namespace mlir::fovea

#endif // FOVEA_WEIGHTS_ELEMENTS_H
