// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Which groups are tile programs, and how these see their tensors: every one as a matrix. Asks each
// op by TileableOpInterface and knows no op by name but those whose results are no tiles (caches
// that grow, the place of a row's greatest element, positions); knows nothing of processors.
#ifndef FOVEA_PASSES_ANALYSIS_TILEFORM_H
#define FOVEA_PASSES_ANALYSIS_TILEFORM_H

#include "dialects/Fovea/FoveaDialect.h"

namespace mlir::fovea {

/// A group as the tile builders see it. If an op asks which batch row and which place in the
/// sequence a row is, the domain is located, and its row axes are these two.
struct TileForm : TileDomain {
  using Kind = TileKind;
  /// Arguments that have all rows, in order of first use, and those that the batches share.
  SmallVector<BlockArgument> rowOperands, sharedOperands;
  /// Arguments whose rows are found by numbers: all axes but the last are joined.
  SmallVector<BlockArgument> matrices;
  /// Ops that need numbers computed before, in their order: rotary embeddings, norms whose factor
  /// a linear applies.
  SmallVector<Operation *> phasesBefore;
  /// The columns of all results are one axis of open size.
  bool hasOpenColumns = false;
  /// Axes of operands, or of what the results are computed from, whose sizes must agree beside
  /// those of the rows.
  SmallVector<std::pair<TensorAxis, TensorAxis>> equalSizes;
  /// The place of each row's greatest column, which all blocks of columns find together; or null.
  ArgmaxOp argmax;
};

/// Columns of which a kernel finds the greatest: they are counted in f32, which holds whole numbers
/// up to here.
inline constexpr int64_t kMaxArgmaxColumns = int64_t(1) << 24;

/// Whether kernels compute the elements of an op's results one by one, from elements of operands
/// that need not lie in memory: ops of upstream dialects.
bool readsElements(Operation *op);

/// Whether a tensor is one number for all elements, which is part of the code: a constant or a
/// splat.
bool isUniform(Value tensor);

/// The form of a group; kind None if it holds anything that no tile program computes:
/// floats of 8 bits, ops without the interface, axes behind the rows whose sizes are open, unless
/// all is elementwise.
TileForm getTileForm(GroupOp group);

} // namespace mlir::fovea

#endif // FOVEA_PASSES_ANALYSIS_TILEFORM_H
