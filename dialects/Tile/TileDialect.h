// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// The `tile` dialect: all that a builder or a lowering includes to use it.
#ifndef FOVEA_DIALECTS_TILE_TILEDIALECT_H
#define FOVEA_DIALECTS_TILE_TILEDIALECT_H

#include "mlir/Bytecode/BytecodeOpInterface.h"
#include "mlir/Dialect/MemRef/IR/MemRef.h"
#include "mlir/IR/BuiltinAttributes.h"
#include "mlir/IR/BuiltinTypes.h"
#include "mlir/IR/Dialect.h"
#include "mlir/IR/OpDefinition.h"
#include "mlir/IR/OpImplementation.h"
#include "mlir/Interfaces/ControlFlowInterfaces.h"
#include "mlir/Interfaces/SideEffectInterfaces.h"

#include "dialects/Tile/TileDialect.h.inc"
#include "dialects/Tile/TileEnums.h.inc"

#define GET_ATTRDEF_CLASSES
#include "dialects/Tile/TileAttrs.h.inc"

#define GET_TYPEDEF_CLASSES
#include "dialects/Tile/TileTypes.h.inc"

#define GET_OP_CLASSES
#include "dialects/Tile/TileOps.h.inc"

namespace mlir::fovea::tile {

/// Rows and depth of one instruction of `m64k16`.
inline constexpr int64_t kWarpgroupRows = 64, kWarpgroupDepth = 16;

/// Whether `m64k16` multiplies a product of such sizes: whole instructions, of up to 256 columns.
inline bool fitsWarpgroups(int64_t rows, int64_t columns, int64_t depth) {
  return rows % kWarpgroupRows == 0 && columns % 8 == 0 && columns <= 256 &&
         depth % kWarpgroupDepth == 0;
}

/// Of the two mbarriers of a guarded ring's slot, that it is full and that it is free; and of one.
inline constexpr int64_t kGuardBytes = 16, kMemoryBarrierBytes = 8;

} // namespace mlir::fovea::tile

#endif // FOVEA_DIALECTS_TILE_TILEDIALECT_H
