// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// fovea-fold-empty-tensors: nothing is computed of tensors without elements.
#include "dialects/Fovea/FoveaDialect.h"
#include "mlir/Dialect/Linalg/IR/Linalg.h"
#include "mlir/Dialect/Tensor/IR/Tensor.h"
#include "mlir/Interfaces/SideEffectInterfaces.h"
#include "mlir/Transforms/GreedyPatternRewriteDriver.h"
#include "passes/Passes.h"

namespace mlir::fovea {
#define GEN_PASS_DEF_FOLDEMPTYTENSORSPASS
#include "passes/Passes.h.inc"
} // namespace mlir::fovea

using namespace mlir;
using namespace mlir::fovea;

namespace {

bool isEmptyTensor(Type type) {
  auto tensor = dyn_cast<RankedTensorType>(type);
  return tensor && !tensor.getEncoding() && llvm::is_contained(tensor.getShape(), 0);
}

/// Replaces an op all of whose results are empty. Open sizes beside the zero are what the op says
/// of its results.
struct FoldEmptyResults : RewritePattern {
  explicit FoldEmptyResults(MLIRContext *context)
      : RewritePattern(MatchAnyOpTypeTag(), /*benefit=*/1, context) {}

  LogicalResult matchAndRewrite(Operation *op, PatternRewriter &rewriter) const override {
    if (op->getNumResults() == 0 || isa<tensor::EmptyOp>(op) ||
        !llvm::all_of(op->getResultTypes(), isEmptyTensor) || !isMemoryEffectFree(op))
      return rewriter.notifyMatchFailure(op, "has effects or results with elements");
    ReifiedRankedShapedTypeDims shapes;
    bool areStatic = llvm::all_of(op->getResultTypes(), [](Type type) {
      return cast<RankedTensorType>(type).hasStaticShape();
    });
    if (!areStatic && failed(reifyResultShapes(rewriter, op, shapes)))
      return rewriter.notifyMatchFailure(op, "does not say the sizes of its results");
    SmallVector<Value> results;
    for (auto [i, type] : llvm::enumerate(op->getResultTypes())) {
      auto tensor = cast<RankedTensorType>(type);
      SmallVector<OpFoldResult> sizes = areStatic ? SmallVector<OpFoldResult>() : shapes[i];
      if (areStatic)
        sizes = getAsIndexOpFoldResult(rewriter.getContext(), tensor.getShape());
      Value empty = tensor::EmptyOp::create(rewriter, op->getLoc(), sizes, tensor.getElementType());
      if (empty.getType() != type)
        empty = tensor::CastOp::create(rewriter, op->getLoc(), type, empty);
      results.push_back(empty);
    }
    rewriter.replaceOp(op, results);
    return success();
  }
};

/// A structured op without iterations leaves its results as they were.
struct FoldEmptyLoops : OpInterfaceRewritePattern<linalg::LinalgOp> {
  using OpInterfaceRewritePattern::OpInterfaceRewritePattern;

  LogicalResult matchAndRewrite(linalg::LinalgOp op, PatternRewriter &rewriter) const override {
    if (!op.hasPureTensorSemantics() || !llvm::is_contained(op.getStaticLoopRanges(), 0))
      return rewriter.notifyMatchFailure(op, "iterates");
    rewriter.replaceOp(op, op.getDpsInits());
    return success();
  }
};

/// What is inserted has no elements.
struct FoldEmptyInsertion : OpRewritePattern<tensor::InsertSliceOp> {
  using OpRewritePattern::OpRewritePattern;

  LogicalResult matchAndRewrite(tensor::InsertSliceOp op,
                                PatternRewriter &rewriter) const override {
    if (!isEmptyTensor(op.getSourceType()))
      return rewriter.notifyMatchFailure(op, "inserts elements");
    rewriter.replaceOp(op, op.getDest());
    return success();
  }
};

struct FoldEmptyTensorsPass : fovea::impl::FoldEmptyTensorsPassBase<FoldEmptyTensorsPass> {
  using FoldEmptyTensorsPassBase::FoldEmptyTensorsPassBase;

  void runOnOperation() override {
    RewritePatternSet patterns(&getContext());
    patterns.add<FoldEmptyResults, FoldEmptyLoops, FoldEmptyInsertion>(&getContext());
    if (failed(applyPatternsGreedily(getOperation(), std::move(patterns))))
      signalPassFailure();
  }
};

} // namespace
