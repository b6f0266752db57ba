// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Which groups the tile builders compute, and how they see them: every tensor as a matrix. Knows
// nothing of processors; sizes of tiles come from the group's schedule.
#ifndef FOVEA_LOWERING_KERNELS_TILEFORM_H
#define FOVEA_LOWERING_KERNELS_TILEFORM_H

#include "dialects/Fovea/FoveaDialect.h"

namespace mlir::fovea {

/// A group as the tile builders see it.
struct TileForm {
  enum class Kind {
    None,        ///< No tile builder computes it.
    Contraction, ///< Linears and what surrounds them.
    Rows,        ///< Ops that need whole rows, or heads of them, or a row's place.
    Elements     ///< Each element on its own.
  };
  Kind kind = Kind::None;
  /// The leading axes of the group's tensors that are rows; all others together are columns.
  unsigned rowAxes = 0;
  /// Whether an op asks which batch row and which place in the sequence a row is: the row axes are
  /// then these two.
  bool located = false;
  /// Arguments that have all rows, in order of first use, and those that the batches share.
  SmallVector<BlockArgument> rowOperands, sharedOperands;
  /// Rotary embeddings and linears' norms, which need numbers computed before.
  SmallVector<RopeOp> ropes;
  SmallVector<RmsNormOp> factors;
  /// The place of each row's greatest column, which all blocks of columns find together; or null.
  ArgmaxOp argmax;
};

/// The form of a group; kind None if it holds anything that the builders do not do: floating-point
/// values other than f32 (but for weights and caches), pairs of neighbours in rotary embeddings,
/// ops outside of the families.
TileForm getTileForm(GroupOp group);

/// A linear's weight-less norm that becomes a factor of its result's rows, or null.
RmsNormOp getFactor(LinearOp op);

/// What a broadcast over the batch repeats, before its batch axis of size 1 was dropped, if it had
/// one.
Value getBroadcastSource(Operation *op);

} // namespace mlir::fovea

#endif // FOVEA_LOWERING_KERNELS_TILEFORM_H
