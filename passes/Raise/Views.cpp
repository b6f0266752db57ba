// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Data movement in normal form: generics that only copy become named ops, chains of views become
// one, views that do nothing go. Refuses what would need two dynamic sizes to be equal that cannot
// be shown to be.
#include "mlir/Transforms/GreedyPatternRewriteDriver.h"
#include "passes/Analysis/SizeOrigin.h"
#include "passes/Raise/Passes.h"
#include "passes/Raise/ViewPatterns.h"

namespace mlir::fovea {
#define GEN_PASS_DEF_RAISEVIEWSPASS
#include "passes/Raise/Passes.h.inc"
} // namespace mlir::fovea

using namespace mlir;
using namespace mlir::fovea;

namespace {

/// A pattern that counts how often it was applied.
template <typename OpTy> struct CountedPattern : OpRewritePattern<OpTy> {
  CountedPattern(MLIRContext *context, Pass::Statistic &counter)
      : OpRewritePattern<OpTy>(context), counter(counter) {}
  Pass::Statistic &counter;
};

/// `value` as a tensor of `type`, which has the same sizes where both are static.
Value castTo(OpBuilder &builder, Location loc, Type type, Value value) {
  return value.getType() == type ? value : tensor::CastOp::create(builder, loc, type, value);
}

bool isParallel(linalg::GenericOp op) {
  return op.getNumLoops() == op.getNumParallelLoops() && op->getNumResults() == 1 &&
         op.getIndexingMapsArray().back().isIdentity() && op.hasPureTensorSemantics();
}

/// A generic that yields its only input as it is: `collapse_shape` of axes read at 0,
/// `linalg.transpose` into the order of the result's axes, `linalg.broadcast` to the others.
struct RaiseCopy : CountedPattern<linalg::GenericOp> {
  using CountedPattern::CountedPattern;

  LogicalResult matchAndRewrite(linalg::GenericOp op, PatternRewriter &rewriter) const override {
    if (op.getNumDpsInputs() != 1 || !isParallel(op))
      return rewriter.notifyMatchFailure(op, "has not one input and one result");
    Block &body = op.getRegion().front();
    auto yielded = dyn_cast<BlockArgument>(body.getTerminator()->getOperand(0));
    if (!yielded || yielded.getOwner() != &body || yielded.getArgNumber() != 0)
      return rewriter.notifyMatchFailure(op, "does not yield its input");
    Value input = op.getDpsInputOperand(0)->get();
    auto type = dyn_cast<RankedTensorType>(input.getType());
    if (!type)
      return rewriter.notifyMatchFailure(op, "reads a scalar");

    // Of each axis of the input, the result's axis; of axes read at 0, none.
    SmallVector<int64_t> resultAxis;
    llvm::SmallBitVector seen(op.getNumLoops());
    AffineMap map = op.getIndexingMapsArray().front();
    for (auto [axis, expr] : llvm::enumerate(map.getResults())) {
      if (auto dim = dyn_cast<AffineDimExpr>(expr); dim && !seen[dim.getPosition()]) {
        seen.set(dim.getPosition());
        resultAxis.push_back(dim.getPosition());
      } else if (auto zero = dyn_cast<AffineConstantExpr>(expr);
                 zero && zero.getValue() == 0 && type.getDimSize(axis) == 1) {
        resultAxis.push_back(-1);
      } else {
        return rewriter.notifyMatchFailure(op, "the input is not read by a permutation");
      }
    }

    Location loc = op.getLoc();
    if (llvm::is_contained(resultAxis, -1)) {
      SmallVector<ReassociationIndices> groups;
      SmallVector<int64_t> kept;
      ReassociationIndices open;
      for (auto [axis, place] : llvm::enumerate(resultAxis)) {
        open.push_back(axis);
        if (place == -1)
          continue;
        groups.push_back(open);
        open.clear();
        kept.push_back(place);
      }
      if (!groups.empty())
        llvm::append_range(groups.back(), open);
      input = tensor::CollapseShapeOp::create(rewriter, loc, input, groups);
      resultAxis = kept;
    }
    SmallVector<int64_t> order(resultAxis);
    llvm::sort(order);
    if (order != resultAxis) {
      SmallVector<int64_t> permutation = llvm::map_to_vector(
          order, [&](int64_t axis) { return llvm::find(resultAxis, axis) - resultAxis.begin(); });
      input = raise::transpose(rewriter, loc, input, permutation);
    }
    SmallVector<int64_t> added;
    for (int64_t axis = 0; axis < static_cast<int64_t>(op.getNumLoops()); ++axis)
      if (!llvm::is_contained(order, axis))
        added.push_back(axis);
    if (!added.empty()) {
      // What is filled is the destination itself, which gives the new axes their sizes.
      auto from = cast<RankedTensorType>(input.getType());
      auto to = cast<RankedTensorType>(op->getResult(0).getType());
      SmallVector<int64_t> shape =
          llvm::map_to_vector(order, [&](int64_t axis) { return to.getDimSize(axis); });
      input = castTo(rewriter, loc, from.clone(shape), input);
      input =
          linalg::BroadcastOp::create(rewriter, loc, input, op.getDpsInitOperand(0)->get(), added)
              ->getResult(0);
    }
    rewriter.replaceOp(op, castTo(rewriter, loc, op->getResult(0).getType(), input));
    ++counter;
    return success();
  }
};

/// A generic whose body is one op that arith or math also has on tensors, and that reads all inputs
/// in place: that op.
struct RaiseElementwiseOp : CountedPattern<linalg::GenericOp> {
  using CountedPattern::CountedPattern;

  LogicalResult matchAndRewrite(linalg::GenericOp op, PatternRewriter &rewriter) const override {
    if (!isParallel(op) ||
        !llvm::all_of(op.getIndexingMapsArray(), [](AffineMap map) { return map.isIdentity(); }))
      return rewriter.notifyMatchFailure(op, "does not read all inputs in place");
    Block &body = op.getRegion().front();
    if (!llvm::hasNItems(body, 2))
      return rewriter.notifyMatchFailure(op, "the body is not one op");
    Operation &scalar = body.front();
    if (!OpTrait::hasElementwiseMappableTraits(&scalar) || scalar.getNumResults() != 1 ||
        body.getTerminator()->getOperand(0) != scalar.getResult(0))
      return rewriter.notifyMatchFailure(op, "the body's op is not elementwise");
    auto type = cast<RankedTensorType>(op->getResult(0).getType());
    SmallVector<Value> operands;
    for (Value operand : scalar.getOperands()) {
      auto argument = dyn_cast<BlockArgument>(operand);
      if (!argument || argument.getOwner() != &body ||
          argument.getArgNumber() >= op.getNumDpsInputs())
        return rewriter.notifyMatchFailure(op, "the body reads something else than the inputs");
      Value input = op.getDpsInputOperand(argument.getArgNumber())->get();
      if (cast<RankedTensorType>(input.getType()).getShape() != type.getShape())
        return rewriter.notifyMatchFailure(op, "the inputs' static sizes differ");
      operands.push_back(input);
    }
    OperationState state(op.getLoc(), scalar.getName(), operands, type, scalar.getAttrs());
    rewriter.replaceOp(op, rewriter.create(state));
    ++counter;
    return success();
  }
};

/// A slice of everything is its source.
struct DropWholeSlice : CountedPattern<tensor::ExtractSliceOp> {
  using CountedPattern::CountedPattern;

  LogicalResult matchAndRewrite(tensor::ExtractSliceOp op,
                                PatternRewriter &rewriter) const override {
    RankedTensorType source = op.getSourceType();
    if (source.getRank() != op.getType().getRank() || !op.hasUnitStride() || !op.hasZeroOffset())
      return rewriter.notifyMatchFailure(op, "takes a part");
    for (auto [axis, size] : llvm::enumerate(op.getMixedSizes()))
      if (!(getSizeOrigin(size) == getSizeOrigin(op.getSource(), axis)))
        return rewriter.notifyMatchFailure(op, "sizes are not known to be equal");
    rewriter.replaceOp(op, castTo(rewriter, op.getLoc(), op.getType(), op.getSource()));
    ++counter;
    return success();
  }
};

/// A concatenation of one part is that part.
struct DropSingleConcat : CountedPattern<tensor::ConcatOp> {
  using CountedPattern::CountedPattern;

  LogicalResult matchAndRewrite(tensor::ConcatOp op, PatternRewriter &rewriter) const override {
    if (op.getInputs().size() != 1)
      return rewriter.notifyMatchFailure(op, "has several parts");
    rewriter.replaceOp(op, castTo(rewriter, op.getLoc(), op.getType(), op.getInputs().front()));
    ++counter;
    return success();
  }
};

struct RaiseViewsPass : fovea::impl::RaiseViewsPassBase<RaiseViewsPass> {
  using RaiseViewsPassBase::RaiseViewsPassBase;

  void runOnOperation() override {
    MLIRContext *context = &getContext();
    RewritePatternSet patterns(context);
    patterns.add<RaiseCopy>(context, numCopies);
    patterns.add<RaiseElementwiseOp>(context, numOps);
    patterns.add<DropWholeSlice, DropSingleConcat>(context, numIdentities);
    tensor::CastOp::getCanonicalizationPatterns(patterns, context);
    tensor::ConcatOp::getCanonicalizationPatterns(patterns, context);
    raise::populateReshapePatterns(patterns);
    raise::populateTransposePatterns(patterns);
    if (failed(applyPatternsGreedily(getOperation(), std::move(patterns))))
      signalPassFailure();
  }
};
} // namespace
