// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Reshapes meet their opposites. Upstream's patterns compare static sizes; these also follow
// dynamic ones to where they come from.
#include "mlir/Dialect/Linalg/IR/Linalg.h"
#include "mlir/Dialect/Tensor/IR/Tensor.h"
#include "mlir/Dialect/Tensor/Transforms/Transforms.h"
#include "passes/Analysis/SizeOrigin.h"
#include "passes/Raise/ViewPatterns.h"

using namespace mlir;
using namespace mlir::fovea;

namespace {

/// expand(collapse(x)): where both make the same axes of one, neither does anything.
struct ExpandOfCollapse : OpRewritePattern<tensor::ExpandShapeOp> {
  using OpRewritePattern::OpRewritePattern;

  LogicalResult matchAndRewrite(tensor::ExpandShapeOp op,
                                PatternRewriter &rewriter) const override {
    auto collapse = op.getSrc().getDefiningOp<tensor::CollapseShapeOp>();
    if (!collapse)
      return rewriter.notifyMatchFailure(op, "does not expand what was collapsed");
    Value source = collapse.getSrc();
    SmallVector<OpFoldResult> wanted = op.getMixedOutputShape();
    // For each group of axes: those of the source, those of the result, and whether they agree.
    SmallVector<ReassociationIndices> collapses, expands;
    SmallVector<OpFoldResult> sizes;
    SmallVector<int64_t> middle, outer;
    bool any = false;
    for (auto [group, from, to] :
         llvm::enumerate(collapse.getReassociationIndices(), op.getReassociationIndices())) {
      bool same = from.size() > 1 && from.size() == to.size();
      for (size_t i = 0; same && i < from.size(); ++i)
        same = getSizeOrigin(source, from[i]) == getSizeOrigin(wanted[to[i]]);
      any |= same;
      auto addResult = [&](int64_t axis) {
        expands.back().push_back(outer.size());
        outer.push_back(op.getType().getDimSize(axis));
        sizes.push_back(wanted[axis]);
      };
      if (same) {
        for (auto [left, right] : llvm::zip_equal(from, to)) {
          collapses.push_back({left});
          expands.emplace_back();
          addResult(right);
          middle.push_back(collapse.getSrcType().getDimSize(left));
          outer.back() = middle.back();
        }
      } else {
        collapses.push_back(from);
        expands.emplace_back();
        for (int64_t axis : to)
          addResult(axis);
        middle.push_back(op.getSrcType().getDimSize(group));
      }
    }
    if (!any)
      return rewriter.notifyMatchFailure(op, "axes are not known to be the same");
    Location loc = op.getLoc();
    Value value = source;
    auto type = collapse.getSrcType();
    if (collapses.size() < static_cast<size_t>(type.getRank()))
      value = tensor::CollapseShapeOp::create(rewriter, loc, type.clone(middle), value, collapses);
    if (expands.size() < outer.size())
      value =
          tensor::ExpandShapeOp::create(rewriter, loc, type.clone(outer), value, expands, sizes);
    if (value.getType() != op.getType())
      value = tensor::CastOp::create(rewriter, loc, op.getType(), value);
    rewriter.replaceOp(op, value);
    return success();
  }
};

/// collapse(transpose(expand(x))) where axes that were divided move together: transpose(x).
struct CollapseOfTransposedExpand : OpRewritePattern<tensor::CollapseShapeOp> {
  using OpRewritePattern::OpRewritePattern;

  LogicalResult matchAndRewrite(tensor::CollapseShapeOp op,
                                PatternRewriter &rewriter) const override {
    auto transpose = op.getSrc().getDefiningOp<linalg::TransposeOp>();
    auto expand = transpose ? transpose.getInput().getDefiningOp<tensor::ExpandShapeOp>() : nullptr;
    if (!expand || expand.getReassociationIndices().size() != op.getReassociationIndices().size())
      return rewriter.notifyMatchFailure(op, "collapses no other axes than were expanded");
    SmallVector<ReassociationIndices> divided = expand.getReassociationIndices();
    SmallVector<int64_t> permutation;
    for (ReassociationIndices axes : op.getReassociationIndices()) {
      for (int64_t &axis : axes)
        axis = transpose.getPermutation()[axis];
      auto group = llvm::find(divided, axes);
      if (group == divided.end())
        return rewriter.notifyMatchFailure(op, "divided axes do not move together");
      permutation.push_back(group - divided.begin());
    }
    Value source = expand.getSrc();
    Value moved = raise::transpose(rewriter, op.getLoc(), source, permutation);
    if (moved.getType() != op.getType())
      moved = tensor::CastOp::create(rewriter, op.getLoc(), op.getType(), moved);
    rewriter.replaceOp(op, moved);
    return success();
  }
};

/// op(collapse(x), collapse(y)) -> collapse(op(x, y)) for ops that treat all elements alike.
struct SinkCollapse : RewritePattern {
  explicit SinkCollapse(MLIRContext *context)
      : RewritePattern(MatchAnyOpTypeTag(), /*benefit=*/1, context) {}

  LogicalResult matchAndRewrite(Operation *op, PatternRewriter &rewriter) const override {
    bool isNorm =
        getTileNeeds(op).kind == TileNeeds::WholeRow && !isa<DestinationStyleOpInterface>(op);
    if (op->getNumResults() != 1 || op->getNumRegions() != 0 || op->getNumOperands() == 0 ||
        (!isNorm && !isElementwiseOp(op)))
      return failure();
    // A norm's weights are vectors, and stand last.
    MutableArrayRef<OpOperand> operands = op->getOpOperands().take_until(isWeight);
    tensor::CollapseShapeOp first;
    SmallVector<Value> sources;
    for (OpOperand &operand : operands) {
      auto collapse = operand.get().getDefiningOp<tensor::CollapseShapeOp>();
      DenseElementsAttr constant;
      if (!collapse && matchPattern(operand.get(), m_Constant(&constant)) && constant.isSplat() &&
          constant.getType().getRank() != 0) {
        sources.push_back({});
        continue;
      }
      if (!collapse)
        return rewriter.notifyMatchFailure(op, "an operand is not collapsed");
      if (!first)
        first = collapse;
      else if (first.getReassociationIndices() != collapse.getReassociationIndices() ||
               first.getSrcType().getShape() != collapse.getSrcType().getShape() ||
               !haveSameSizes(first.getSrc(), collapse.getSrc()))
        return rewriter.notifyMatchFailure(op, "the operands are collapsed differently");
      sources.push_back(collapse.getSrc());
    }
    if (!first || (isNorm && first.getReassociationIndices().back().size() != 1))
      return rewriter.notifyMatchFailure(op, "no operand is collapsed in its rows");
    if (llvm::is_contained(sources, Value()) && !first.getSrcType().hasStaticShape())
      return rewriter.notifyMatchFailure(op, "a constant would get a dynamic size");
    auto widen = [&](Type type) {
      return RankedTensorType::get(first.getSrcType().getShape(), getElementTypeOrSelf(type));
    };
    for (auto [source, operand] : llvm::zip(sources, operands))
      if (!source) {
        DenseElementsAttr constant;
        matchPattern(operand.get(), m_Constant(&constant));
        source = arith::ConstantOp::create(
            rewriter, op->getLoc(),
            DenseElementsAttr::get(widen(constant.getType()), constant.getSplatValue<Attribute>()));
      }
    llvm::append_range(sources, op->getOperands().drop_front(sources.size()));
    OperationState state(op->getLoc(), op->getName(), sources,
                         TypeRange{widen(op->getResult(0).getType())}, op->getAttrs());
    Operation *wide = rewriter.create(state);
    rewriter.replaceOpWithNewOp<tensor::CollapseShapeOp>(
        op, cast<RankedTensorType>(op->getResult(0).getType()), wide->getResult(0),
        first.getReassociationIndices());
    return success();
  }
};

} // namespace

void raise::populateReshapePatterns(RewritePatternSet &patterns) {
  patterns.add<CollapseOfTransposedExpand, ExpandOfCollapse, SinkCollapse>(patterns.getContext());
  tensor::CollapseShapeOp::getCanonicalizationPatterns(patterns, patterns.getContext());
  tensor::ExpandShapeOp::getCanonicalizationPatterns(patterns, patterns.getContext());
  tensor::populateReassociativeReshapeFoldingPatterns(patterns);
}
