// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// A loop's product that may be done a round later, beside the next round's first one.
#ifndef FOVEA_LOWERING_GPU_DEFERREDPRODUCT_H
#define FOVEA_LOWERING_GPU_DEFERREDPRODUCT_H

#include "dialects/Tile/TileDialect.h"
#include "mlir/Dialect/SCF/IR/SCF.h"
#include <optional>

namespace mlir::fovea {

/// Of a loop with two products by wgmma, of which the second one's left operand, in registers,
/// comes from the first. The second only adds to what the loop carries:
///
///     for ... iter_args(%o = ...) {
///       %s = mma %q, %k into %zero
///       %p = ... %s ...              // the softmax
///       %c = ... %o ...              // `ofSum`: what else is done with the sum
///       %n = mma %p, %v into %c
///       yield %n
///     }
struct DeferredProduct {
  /// None if the loop is no such one.
  static std::optional<DeferredProduct> find(scf::ForOp loop);

  tile::MmaOp first, product;
  /// Which of the carried values the product gives.
  int64_t number;
  /// What is computed of the sum before the product adds to it, in order; without side effects.
  SmallVector<Operation *> ofSum;
};

/// The ops of a loop's body that depend on a value, in order, but for its yield.
SmallVector<Operation *> getDependents(scf::ForOp loop, Value value);

} // namespace mlir::fovea

#endif // FOVEA_LOWERING_GPU_DEFERREDPRODUCT_H
