// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// What a kernel's builder lets a lowering do, as attributes of tile ops that change no meaning
// beyond rounding.
#ifndef FOVEA_LOWERING_TILE_HINTS_H
#define FOVEA_LOWERING_TILE_HINTS_H

#include "mlir/Support/LLVM.h"

namespace mlir::fovea {

/// On `tile.dot`: a single row may be summed in another order than one of several rows, across the
/// lanes of a vector. Without it both have the same bits, which drafts rely on.
inline constexpr StringLiteral kSumAcrossAttr = "tile.sum_across";

} // namespace mlir::fovea

#endif // FOVEA_LOWERING_TILE_HINTS_H
