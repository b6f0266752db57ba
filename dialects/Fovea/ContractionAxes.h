// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// How a linalg.contract is a product of tiles. Neither operand need be a weight; a weight's product
// is fovea.linear.
#ifndef FOVEA_DIALECTS_FOVEA_CONTRACTIONAXES_H
#define FOVEA_DIALECTS_FOVEA_CONTRACTIONAXES_H

#include "mlir/IR/Value.h"
#include "llvm/ADT/SmallVector.h"
#include <optional>

namespace mlir {
class Operation;
} // namespace mlir

namespace mlir::fovea {

/// `result[outer.., m, n] = sum over k of rows[outer.., m, k] * columns[outer.., n, k]`: the axes
/// of both operands may have any order, and either may lack outer ones.
struct ContractionAxes {
  /// An operand, and where its axes are: for each axis of the result the operand's, or nothing.
  struct Operand {
    Value tensor;
    llvm::SmallVector<std::optional<int64_t>> axes;
    int64_t depth = 0; ///< the axis that is summed
  };
  Operand rows, columns;
  /// Leading axes of the result that no rows are joined across.
  int64_t outerAxes = 0;

  /// Whether the rows lie as the result's do, so that those behind the outer ones may be joined.
  bool rowsLieAsResult() const;

  /// Of a linalg.contract that begins with zeros and sums one axis in f32 or f64; nothing if tiles
  /// do not compute it: where the last axis but one of the result is an axis of both operands.
  static std::optional<ContractionAxes> find(Operation *op);
};

} // namespace mlir::fovea

#endif // FOVEA_DIALECTS_FOVEA_CONTRACTIONAXES_H
