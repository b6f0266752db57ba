// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Where pieces of shared memory would lie, for who has to know what fits.
#ifndef FOVEA_LOWERING_GPU_SHAREDPLAN_H
#define FOVEA_LOWERING_GPU_SHAREDPLAN_H

#include "dialects/Tile/TileDialect.h"

namespace mlir::fovea {

/// The place of each piece of a kernel, and the bytes that all need together.
struct SharedPlan {
  explicit SharedPlan(tile::KernelOp kernel);
  SmallVector<std::pair<tile::SharedOp, int64_t>> places;
  int64_t bytes = 0;
};

} // namespace mlir::fovea

#endif // FOVEA_LOWERING_GPU_SHAREDPLAN_H
