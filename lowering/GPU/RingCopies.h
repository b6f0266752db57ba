// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Copies of a loop that may be begun before their round, into a ring of shared memory.
#ifndef FOVEA_LOWERING_GPU_RINGCOPIES_H
#define FOVEA_LOWERING_GPU_RINGCOPIES_H

#include "dialects/Tile/TileDialect.h"
#include "mlir/Dialect/SCF/IR/SCF.h"

namespace mlir::fovea {

struct RingCopy {
  tile::CopyOp copy;
  tile::SharedOp memory;
  /// What the copy's place is computed by, in the loop's body, in order.
  SmallVector<Operation *> slice;
};

/// Whether an op, with all that it holds, only reads the memory that copies may read.
bool writesNothing(Operation *op);

/// Those in the loop's body: asynchronous throughout or converting, alone in writing memory that
/// only the same round reads behind them. None if the loop writes to memory, if its step is not
/// known, or if it has one round.
SmallVector<RingCopy> findRingCopies(scf::ForOp loop);

} // namespace mlir::fovea

#endif // FOVEA_LOWERING_GPU_RINGCOPIES_H
