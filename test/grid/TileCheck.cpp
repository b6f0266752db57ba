// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// See TileCheck.h.
#include "test/grid/TileCheck.h"
#include "llvm/ADT/STLExtras.h"
#include <cmath>

using namespace mlir;
using namespace mlir::fovea;
using namespace mlir::fovea::interpreter;

const std::vector<TileCase> &mlir::fovea::getTileCases() {
  static const std::vector<TileCase> cases = [] {
    std::vector<TileCase> all = makeContractionCases();
    for (auto make : {makeAttentionCases, makeRowCases})
      for (TileCase &one : make())
        all.push_back(std::move(one));
    return all;
  }();
  return cases;
}

Element mlir::fovea::makeElement(Type type, double value) {
  return isa<FloatType>(type) ? Element{value, 0} : Element{0, static_cast<int64_t>(value)};
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
    bool same =
        x.integer == y.integer && (x.real == y.real || (std::isnan(x.real) && std::isnan(y.real)) ||
                                   (written && std::abs(x.real - y.real) <= tolerance * largest));
    if (!same)
      return "element " + std::to_string(i) + " of " + std::to_string(expected.values.size()) +
             ": got " + std::to_string(x.real) + ", expected " + std::to_string(y.real) +
             " (integers " + std::to_string(x.integer) + ", " + std::to_string(y.integer) + ")";
  }
  return "";
}
