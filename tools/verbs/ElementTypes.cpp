// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Element types of arrays: their names, and floats of all sizes, also of 16 bits,
// which C++ has none of.
#include "tools/verbs/Values.h"

#include <algorithm>
#include <cmath>
#include <cstring>
#include <iterator>
#include <limits>

namespace fovea::verbs {

bool isReal(fovea_dtype type) { return type.code == FOVEA_FLOAT || type.code == FOVEA_BFLOAT; }

std::string typeName(fovea_dtype type) {
  static constexpr const char *kCodes[] = {"i", "u", "f", "", "bf", "", "bool"};
  std::string name = type.code < std::size(kCodes) ? kCodes[type.code] : "?";
  return type.code == FOVEA_BOOL ? name : name + std::to_string(type.bits);
}

namespace {
/// How many bits of a narrow float are exponent and fraction.
struct NarrowFormat {
  int exponent, fraction;
};
} // namespace

static NarrowFormat formatOf(fovea_dtype type) {
  return type.code == FOVEA_BFLOAT ? NarrowFormat{8, 7} : NarrowFormat{5, 10};
}

/// To the nearest number of 16 bits, ties to even; what is too large becomes infinite.
static uint16_t toNarrow(double value, NarrowFormat format) {
  auto sign = static_cast<uint16_t>(std::signbit(value) ? 0x8000 : 0);
  int all = (1 << format.exponent) - 1, bias = all >> 1;
  auto infinite = static_cast<uint16_t>(sign | all << format.fraction);
  if (std::isnan(value))
    return static_cast<uint16_t>(infinite | 1 << (format.fraction - 1));
  if (std::isinf(value))
    return infinite;
  // The unit of the last place; below the least normal number it shrinks no further.
  int exponent = value == 0 ? 1 - bias : std::max(std::ilogb(value), 1 - bias);
  double units = std::nearbyint(std::ldexp(std::fabs(value), format.fraction - exponent));
  // Carries run into the exponent, as the encoding wants it.
  double bits = std::ldexp(exponent + bias - 1, format.fraction) + units;
  return bits >= (all << format.fraction) ? infinite
                                          : static_cast<uint16_t>(sign | static_cast<int>(bits));
}

static double fromNarrow(uint16_t bits, NarrowFormat format) {
  int all = (1 << format.exponent) - 1, bias = all >> 1;
  int exponent = bits >> format.fraction & all, fraction = bits & ((1 << format.fraction) - 1);
  double value = exponent == all ? (fraction ? std::numeric_limits<double>::quiet_NaN()
                                             : std::numeric_limits<double>::infinity())
                 : exponent == 0 ? std::ldexp(fraction, 1 - bias - format.fraction)
                                 : std::ldexp(fraction + (1 << format.fraction),
                                              exponent - bias - format.fraction);
  return bits & 0x8000 ? -value : value;
}

template <typename T> static void append(Bytes &data, T value) {
  size_t at = data.size();
  data.resize(at + sizeof(T));
  std::memcpy(data.data() + at, &value, sizeof(T));
}

void appendReal(Bytes &data, double value, fovea_dtype type) {
  if (type.bits == 64)
    append(data, value);
  else if (type.bits == 32)
    append(data, static_cast<float>(value));
  else
    append(data, toNarrow(value, formatOf(type)));
}

template <typename T> static T elementAt(const Array &array, size_t i) {
  T value;
  std::memcpy(&value, array.data.data() + i * sizeof(T), sizeof(T));
  return value;
}

double realAt(const Array &array, size_t i) {
  if (array.dtype.bits == 64)
    return elementAt<double>(array, i);
  if (array.dtype.bits == 32)
    return elementAt<float>(array, i);
  return fromNarrow(elementAt<uint16_t>(array, i), formatOf(array.dtype));
}

} // namespace fovea::verbs
