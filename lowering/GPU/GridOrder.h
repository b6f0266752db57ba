// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// In which order the points of a kernel's grid are begun, found in its loops alone.
#ifndef FOVEA_LOWERING_GPU_GRIDORDER_H
#define FOVEA_LOWERING_GPU_GRIDORDER_H

#include "dialects/Tile/TileDialect.h"
#include "llvm/ADT/SmallBitVector.h"

namespace mlir::fovea {

/// The order in which points of a grid are begun.
struct GridOrder {
  /// Last axis fastest, all forwards.
  explicit GridOrder(unsigned rank);
  /// Points that take longest come first, so that blocks end together (Graham 1969, "Bounds on
  /// multiprocessing timing anomalies", rule LPT): an axis on which it depends how often a loop
  /// runs changes slowest and runs backwards. Such are a causal mask's tiles of queries; of most
  /// masks later queries see more keys.
  explicit GridOrder(tile::KernelOp kernel);

  SmallVector<unsigned> axes; // slowest first
  llvm::SmallBitVector isBackwards;
};

} // namespace mlir::fovea

#endif // FOVEA_LOWERING_GPU_GRIDORDER_H
