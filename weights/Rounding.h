// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// How a number becomes a small integer by a scale: what rounding a weight as it is and rounding it
// by its inputs have in common.
#ifndef FOVEA_WEIGHTS_ROUNDING_H
#define FOVEA_WEIGHTS_ROUNDING_H

#include "weights/Elements.h"
#include <algorithm>
#include <array>

namespace mlir::fovea {

/// Inputs that share a scale in i4.
inline constexpr int64_t kInt4Group = 32;
inline constexpr float kLeastInt4 = -8, kMostInt4 = 7;

/// A scale is the greatest number of a group by one of these: -8 has the most steps to the other
/// side's 7, and past 8 the extreme is cut off for smaller steps of the others.
inline constexpr std::array<float, 8> kInt4Divisors = {-8, -7.5, -7, 7, 7.5, 8, -8.5, -9};

/// The greatest weight beside scales of f16: products of f16 multiply the numbers that quantised
/// ones stand for in f16.
inline constexpr float kMostOfHalf = 65504;

/// To nearest even, of what is within [low, high], which are small: adding 1.5 * 2^23 leaves no
/// room for a fraction.
inline float roundToInteger(float value, float low, float high) {
  constexpr float kShift = 12582912.0f;
  return (std::min(std::max(value, low), high) + kShift) - kShift;
}

/// A scale as f16 stores it.
inline float roundToHalf(float scale) {
  char bytes[2];
  F16Element::store(scale, bytes);
  return F16Element::load(bytes);
}

} // namespace mlir::fovea

#endif // FOVEA_WEIGHTS_ROUNDING_H
