// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// See ContainsTiles.h.
#include "dialects/Tile/ContainsTiles.h"

using namespace mlir;
using namespace mlir::fovea;
using namespace mlir::fovea::tile;

/// Is `op` of the dialect, or has it such types among its operands, results or blocks' arguments?
static bool concernsTiles(Operation *op) {
  if (isa<TileDialect>(op->getDialect()) || llvm::any_of(op->getOperandTypes(), isTileType) ||
      llvm::any_of(op->getResultTypes(), isTileType))
    return true;
  for (Region &region : op->getRegions())
    for (Block &block : region)
      if (llvm::any_of(block.getArgumentTypes(), isTileType))
        return true;
  return false;
}

bool tile::containsTiles(Operation *op) {
  return op
      ->walk([](Operation *inner) {
        return concernsTiles(inner) ? WalkResult::interrupt() : WalkResult::advance();
      })
      .wasInterrupted();
}
