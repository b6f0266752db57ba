// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Maps of linalg that read each other become one, so that what lies between them is never in
// memory. Upstream's fusion does it; refused is what would compute an element more than once.
#include "mlir/Dialect/Linalg/IR/Linalg.h"
#include "mlir/Dialect/Linalg/Transforms/Transforms.h"
#include "mlir/Transforms/GreedyPatternRewriteDriver.h"
#include "passes/Passes.h"

namespace mlir::fovea {
#define GEN_PASS_DEF_FUSEMAPSPASS
#include "passes/Passes.h.inc"
} // namespace mlir::fovea

using namespace mlir;
using namespace mlir::fovea;

/// Whether the operand is a map that nobody else reads, and each of its elements is read once.
static bool isReadOnce(OpOperand *operand) {
  auto map = operand->get().getDefiningOp<linalg::GenericOp>();
  auto reader = cast<linalg::GenericOp>(operand->getOwner());
  return map && operand->get().hasOneUse() && map->getNumResults() == 1 &&
         reader.getMatchingIndexingMap(operand).isPermutation();
}

namespace {
struct FuseMapsPass : fovea::impl::FuseMapsPassBase<FuseMapsPass> {
  using FuseMapsPassBase::FuseMapsPassBase;

  void runOnOperation() override {
    RewritePatternSet patterns(&getContext());
    linalg::populateElementwiseOpsFusionPatterns(patterns, isReadOnce);
    if (failed(applyPatternsGreedily(getOperation(), std::move(patterns))))
      signalPassFailure();
  }
};
} // namespace
