// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Transposes go where they cost nothing: into the maps of structured ops, and behind elementwise
// ops, where they meet their opposites.
#include "mlir/Dialect/Linalg/IR/Linalg.h"
#include "mlir/Dialect/Tensor/IR/Tensor.h"
#include "passes/Elements/Expression.h"
#include "passes/Raise/ViewPatterns.h"

using namespace mlir;
using namespace mlir::fovea;

namespace {

/// Result i is result `axes[i]` of `map`.
AffineMap permuteResults(AffineMap map, ArrayRef<int64_t> axes) {
  SmallVector<AffineExpr> results =
      llvm::map_to_vector(axes, [&](int64_t axis) { return map.getResult(axis); });
  return AffineMap::get(map.getNumDims(), 0, results, map.getContext());
}

SmallVector<int64_t> invert(ArrayRef<int64_t> axes) {
  SmallVector<int64_t> inverse(axes.size());
  for (auto [place, axis] : llvm::enumerate(axes))
    inverse[axis] = place;
  return inverse;
}

/// Whether an op has maps of its own that may be changed.
bool hasFreeMaps(linalg::LinalgOp op) {
  return isa<linalg::GenericOp, linalg::ContractOp>(op) && op.hasPureTensorSemantics();
}

void setMaps(PatternRewriter &rewriter, linalg::LinalgOp op, ArrayRef<AffineMap> maps) {
  op->setAttr("indexing_maps", rewriter.getAffineMapArrayAttr(maps));
}

/// A structured op that reads transpose(x) reads x by another map.
struct FoldIntoReader : OpInterfaceRewritePattern<linalg::LinalgOp> {
  using OpInterfaceRewritePattern::OpInterfaceRewritePattern;

  LogicalResult matchAndRewrite(linalg::LinalgOp op, PatternRewriter &rewriter) const override {
    if (!hasFreeMaps(op))
      return failure();
    SmallVector<AffineMap> maps = op.getIndexingMapsArray();
    SmallVector<std::pair<OpOperand *, Value>> sources;
    for (OpOperand *operand : op.getDpsInputOperands()) {
      auto transpose = operand->get().getDefiningOp<linalg::TransposeOp>();
      AffineMap &map = maps[operand->getOperandNumber()];
      // Windows are read again and again: better as they lie.
      if (!transpose || !map.isProjectedPermutation(/*allowZeroInResults=*/true))
        continue;
      map = permuteResults(map, invert(transpose.getPermutation()));
      sources.emplace_back(operand, transpose.getInput());
    }
    if (sources.empty())
      return rewriter.notifyMatchFailure(op, "no input is transposed");
    rewriter.modifyOpInPlace(op, [&] {
      for (auto [operand, source] : sources)
        operand->set(source);
      setMaps(rewriter, op, maps);
    });
    return success();
  }
};

/// transpose(contraction) is the contraction with another map of its result.
struct FoldIntoContraction : OpRewritePattern<linalg::TransposeOp> {
  using OpRewritePattern::OpRewritePattern;

  LogicalResult matchAndRewrite(linalg::TransposeOp op, PatternRewriter &rewriter) const override {
    auto product = op.getInput().getDefiningOp<linalg::LinalgOp>();
    if (!product || !hasFreeMaps(product) || !raise::isContraction(product) ||
        !op.getInput().hasOneUse())
      return rewriter.notifyMatchFailure(op, "does not alone read a contraction");
    auto fill = product.getDpsInitOperand(0)->get().getDefiningOp<linalg::FillOp>();
    if (!fill)
      return rewriter.notifyMatchFailure(op, "the contraction adds to a tensor");
    SmallVector<AffineMap> maps = product.getIndexingMapsArray();
    maps.back() = permuteResults(maps.back(), op.getPermutation());
    rewriter.setInsertionPoint(op);
    Value filled = linalg::FillOp::create(rewriter, fill.getLoc(), fill.getInputs(), op.getInit())
                       ->getResult(0);
    rewriter.setInsertionPoint(op);
    SmallVector<Value> operands(product.getDpsInputs());
    operands.push_back(filled);
    Operation *moved =
        clone(rewriter, product.getOperation(), TypeRange{op->getResult(0).getType()}, operands);
    setMaps(rewriter, cast<linalg::LinalgOp>(moved), maps);
    rewriter.replaceOp(op, moved->getResults());
    return success();
  }
};

/// op(transpose(x), transpose(y)) -> transpose(op(x, y)) for elementwise ops on tensors.
struct SinkTranspose : RewritePattern {
  explicit SinkTranspose(MLIRContext *context)
      : RewritePattern(MatchAnyOpTypeTag(), /*benefit=*/1, context) {}

  LogicalResult matchAndRewrite(Operation *op, PatternRewriter &rewriter) const override {
    if (op->getNumResults() != 1 || op->getNumOperands() == 0 || op->getNumRegions() != 0 ||
        !isElementwiseOp(op))
      return failure();
    linalg::TransposeOp first;
    for (Value operand : op->getOperands()) {
      auto transpose = operand.getDefiningOp<linalg::TransposeOp>();
      DenseElementsAttr constant;
      if (!transpose && matchPattern(operand, m_Constant(&constant)) && constant.isSplat())
        continue;
      if (!transpose || (first && first.getPermutation() != transpose.getPermutation()))
        return rewriter.notifyMatchFailure(op, "the operands are not transposed alike");
      first = first ? first : transpose;
    }
    if (!first)
      return rewriter.notifyMatchFailure(op, "no operand is transposed");
    ArrayRef<int64_t> shape = cast<RankedTensorType>(first.getInput().getType()).getShape();
    auto widen = [&](Type type) {
      return RankedTensorType::get(shape, getElementTypeOrSelf(type));
    };
    SmallVector<Value> operands;
    for (Value operand : op->getOperands()) {
      if (auto transpose = operand.getDefiningOp<linalg::TransposeOp>()) {
        operands.push_back(transpose.getInput());
        continue;
      }
      DenseElementsAttr constant;
      matchPattern(operand, m_Constant(&constant));
      if (!widen(constant.getType()).hasStaticShape())
        return rewriter.notifyMatchFailure(op, "a constant would get a dynamic size");
      operands.push_back(arith::ConstantOp::create(
          rewriter, op->getLoc(),
          DenseElementsAttr::get(widen(constant.getType()), constant.getSplatValue<Attribute>())));
    }
    for (Value operand : operands)
      if (cast<RankedTensorType>(operand.getType()).getShape() != shape)
        return rewriter.notifyMatchFailure(op, "the operands' static sizes differ");
    auto type = cast<RankedTensorType>(op->getResult(0).getType());
    OperationState state(op->getLoc(), op->getName(), operands, TypeRange{widen(type)},
                         op->getAttrs());
    Operation *inner = rewriter.create(state);
    SmallVector<OpFoldResult> sizes;
    for (int64_t axis : first.getPermutation())
      sizes.push_back(tensor::getMixedSize(rewriter, op->getLoc(), first.getInput(), axis));
    Value empty = tensor::EmptyOp::create(rewriter, op->getLoc(), sizes, type.getElementType());
    Value outer = linalg::TransposeOp::create(rewriter, op->getLoc(), inner->getResult(0), empty,
                                              first.getPermutation())
                      ->getResult(0);
    if (outer.getType() != type)
      outer = tensor::CastOp::create(rewriter, op->getLoc(), type, outer);
    rewriter.replaceOp(op, outer);
    return success();
  }
};

/// transpose(collapse(transpose(x))) -> transpose(transpose(collapse(x))), where the axes that
/// become one are neighbours in x too.
struct MeetBehindCollapse : OpRewritePattern<linalg::TransposeOp> {
  using OpRewritePattern::OpRewritePattern;

  LogicalResult matchAndRewrite(linalg::TransposeOp op, PatternRewriter &rewriter) const override {
    auto collapse = op.getInput().getDefiningOp<tensor::CollapseShapeOp>();
    auto first = collapse ? collapse.getSrc().getDefiningOp<linalg::TransposeOp>() : nullptr;
    if (!first || !collapse->hasOneUse())
      return rewriter.notifyMatchFailure(op, "does not alone read what is collapsed");
    SmallVector<ReassociationIndices> groups = collapse.getReassociationIndices();
    for (ReassociationIndices &group : groups) {
      for (int64_t &axis : group)
        axis = first.getPermutation()[axis];
      for (auto [axis, next] : llvm::zip(group, ArrayRef(group).drop_front()))
        if (next != axis + 1)
          return rewriter.notifyMatchFailure(op, "the axes are no neighbours before");
    }
    SmallVector<ReassociationIndices> sorted(groups);
    llvm::sort(sorted, [](const auto &l, const auto &r) { return l.front() < r.front(); });
    SmallVector<int64_t> axes = llvm::map_to_vector(
        groups, [&](const auto &group) { return llvm::find(sorted, group) - sorted.begin(); });
    Location loc = collapse.getLoc();
    Value joined = tensor::CollapseShapeOp::create(rewriter, loc, first.getInput(), sorted);
    Value moved = raise::transpose(rewriter, loc, joined, axes);
    if (moved.getType() != collapse.getType())
      moved = tensor::CastOp::create(rewriter, loc, collapse.getType(), moved);
    rewriter.replaceOp(collapse, moved);
    return success();
  }
};

} // namespace

Value raise::transpose(OpBuilder &builder, Location loc, Value value, ArrayRef<int64_t> axes) {
  if (llvm::equal(axes, llvm::seq<int64_t>(0, axes.size())))
    return value;
  SmallVector<OpFoldResult> sizes = llvm::map_to_vector(
      axes, [&](int64_t axis) { return tensor::getMixedSize(builder, loc, value, axis); });
  Value empty = tensor::EmptyOp::create(builder, loc, sizes, getElementTypeOrSelf(value));
  return linalg::TransposeOp::create(builder, loc, value, empty, axes)->getResult(0);
}

void raise::populateTransposePatterns(RewritePatternSet &patterns) {
  patterns.add<FoldIntoReader, FoldIntoContraction, SinkTranspose, MeetBehindCollapse>(
      patterns.getContext());
  linalg::TransposeOp::getCanonicalizationPatterns(patterns, patterns.getContext());
}
