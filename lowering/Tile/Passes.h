// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// The passes of lowering/Tile/Passes.td.
#ifndef FOVEA_LOWERING_TILE_PASSES_H
#define FOVEA_LOWERING_TILE_PASSES_H

#include "dialects/Fovea/FoveaDialect.h"
#include "mlir/Dialect/Func/IR/FuncOps.h"
#include "mlir/Pass/Pass.h"

namespace mlir::fovea {

#define GEN_PASS_DECL
#include "lowering/Tile/Passes.h.inc"

/// Upstream's canonicalisation once over everything, for lowered code: a second look finds nothing,
/// and blocks are LLVM's to simplify.
std::unique_ptr<Pass> createSweepPass();

#define GEN_PASS_REGISTRATION
#include "lowering/Tile/Passes.h.inc"

} // namespace mlir::fovea

#endif // FOVEA_LOWERING_TILE_PASSES_H
