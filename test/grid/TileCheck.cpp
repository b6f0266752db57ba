// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// See TileCheck.h.
#include "test/grid/TileCheck.h"
#include "dialects/Fovea/FoveaDialect.h"
#include "llvm/ADT/STLExtras.h"
#include <cmath>

using namespace mlir;
using namespace mlir::fovea;
using namespace mlir::fovea::interpreter;

const std::vector<TileCase> &mlir::fovea::getTileCases() {
  static const std::vector<TileCase> cases = [] {
    std::vector<TileCase> all = makeContractionCases();
    for (auto make : {makeIntegerCases, makeAttentionCases, makeRowCases})
      for (TileCase &one : make())
        all.push_back(std::move(one));
    return all;
  }();
  return cases;
}

Element mlir::fovea::makeElement(Type type, double value) {
  return isa<FloatType>(type) ? Element{value, 0} : Element{0, static_cast<int64_t>(value)};
}

/// Half of what lies between neighbours of a 16-bit type around `value`.
static double getHalfStep(Type type, double value) {
  int lowest = type.isF16() ? -14 : -126, digits = type.isF16() ? 10 : 7;
  return std::ldexp(0.5, std::max(value == 0 ? lowest : std::ilogb(value), lowest) - digits);
}

std::string mlir::fovea::compareElements(Type type, const std::vector<char> &got,
                                         const Array &expected, bool written, double tolerance) {
  int64_t bytes = getStorageBytes(type, 1);
  double largest = 0;
  for (double value : expected.values)
    if (std::isfinite(value))
      largest = std::max(largest, std::abs(value));
  for (auto [i, value] : llvm::enumerate(expected.values)) {
    char rounded[8];
    putElement(rounded, type, makeElement(type, value));
    Element x = getElement(got.data() + i * bytes, type), y = getElement(rounded, type);
    double off = written ? tolerance * largest : 0;
    if (written && tolerance > 0 && bytes == 2 && std::isfinite(value))
      off += getHalfStep(type, value);
    bool same =
        x.integer == y.integer && (x.real == y.real || (std::isnan(x.real) && std::isnan(y.real)) ||
                                   (off > 0 && std::abs(x.real - value) <= off));
    if (!same)
      return "element " + std::to_string(i) + " of " + std::to_string(expected.values.size()) +
             ": got " + std::to_string(x.real) + ", expected " + std::to_string(y.real) +
             " (integers " + std::to_string(x.integer) + ", " + std::to_string(y.integer) + ")";
  }
  return "";
}
