// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// The pass that writes views of buffers as arithmetic on addresses, and one sweep of upstream's
// canonicalisation.
#include "lowering/Tile/Passes.h"
#include "mlir/Dialect/Affine/IR/AffineOps.h"
#include "mlir/Dialect/MemRef/Transforms/Transforms.h"
#include "mlir/Transforms/GreedyPatternRewriteDriver.h"
#include "mlir/Transforms/Passes.h"

namespace mlir::fovea {
#define GEN_PASS_DEF_EXPANDVIEWSPASS
#include "lowering/Tile/Passes.h.inc"
} // namespace mlir::fovea

using namespace mlir;
using namespace mlir::fovea;

/// One iteration: what a pattern changes is looked at again within it. Regions stay as they are.
static GreedyRewriteConfig getSweep() {
  return GreedyRewriteConfig().setMaxIterations(1).setRegionSimplificationLevel(
      GreedySimplifyRegionLevel::Disabled);
}

std::unique_ptr<Pass> mlir::fovea::createSweepPass() { return createCanonicalizerPass(getSweep()); }

namespace {
struct ExpandViewsPass : fovea::impl::ExpandViewsPassBase<ExpandViewsPass> {
  using ExpandViewsPassBase::ExpandViewsPassBase;

  LogicalResult initialize(MLIRContext *context) override {
    RewritePatternSet owned(context);
    memref::populateExpandStridedMetadataPatterns(owned);
    patterns = FrozenRewritePatternSet(std::move(owned));
    return success();
  }

  void runOnOperation() override {
    // Constants fold in the sweep that follows.
    (void)applyPatternsGreedily(getOperation(), patterns,
                                getSweep().enableFolding(false).enableConstantCSE(false));
  }

private:
  FrozenRewritePatternSet patterns;
};
} // namespace
