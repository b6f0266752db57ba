// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// What every lowering of tile programs is tested by: all cases, and whether a buffer holds what it
// must.
#ifndef FOVEA_TEST_GRID_TILECHECK_H
#define FOVEA_TEST_GRID_TILECHECK_H

#include "test/grid/NativeCode.h"
#include "test/grid/TileCase.h"

namespace mlir::fovea {

const std::vector<TileCase> &getTileCases();

/// A case's number as an element of a buffer.
interpreter::Element makeElement(Type type, double value);

/// Empty if `got`, elements of `type`, holds `expected`; else the first place where it does not.
/// What was written may be off by `tolerance` of the largest number, before it was rounded to the
/// nearest element of 16 bits.
std::string compareElements(Type type, const std::vector<char> &got, const Array &expected,
                            bool written, double tolerance);

} // namespace mlir::fovea

#endif // FOVEA_TEST_GRID_TILECHECK_H
