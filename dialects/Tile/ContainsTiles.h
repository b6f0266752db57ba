// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// What a lowering of tiles must write anew, and what it may copy.
#ifndef FOVEA_DIALECTS_TILE_CONTAINSTILES_H
#define FOVEA_DIALECTS_TILE_CONTAINSTILES_H

#include "dialects/Tile/TileDialect.h"

namespace mlir::fovea::tile {

/// Tiles, views and shared memory.
inline bool isTileType(Type type) { return isa<TileType, ViewType, SharedType>(type); }

/// Whether `op`, or an op in it, is of the dialect or has such a type among its operands, results
/// or blocks' arguments.
bool containsTiles(Operation *op);

} // namespace mlir::fovea::tile

#endif // FOVEA_DIALECTS_TILE_CONTAINSTILES_H
