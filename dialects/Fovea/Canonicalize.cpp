// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Rewrites of masks: flattening of and/or, neighbours that say the same, and masks that the sizes
// of their attention make simpler. All are exact.
#include "dialects/Fovea/FoveaDialect.h"
#include "mlir/IR/Matchers.h"
#include "mlir/IR/PatternMatch.h"
#include "llvm/ADT/SetVector.h"

using namespace mlir;
using namespace mlir::fovea;

namespace {

/// and(and(a, b), b, c) -> and(a, b, c), likewise or; an empty inner op of the same kind vanishes.
template <typename OpTy> struct FlattenMasks : OpRewritePattern<OpTy> {
  using OpRewritePattern<OpTy>::OpRewritePattern;
  LogicalResult matchAndRewrite(OpTy op, PatternRewriter &rewriter) const override {
    llvm::SetVector<Value> masks;
    for (Value mask : op.getMasks()) {
      if (auto inner = mask.getDefiningOp<OpTy>())
        masks.insert(inner.getMasks().begin(), inner.getMasks().end());
      else
        masks.insert(mask);
    }
    if (llvm::equal(masks, op.getMasks()))
      return rewriter.notifyMatchFailure(op, "is flat");
    rewriter.replaceOpWithNewOp<OpTy>(op, op.getType(), masks.getArrayRef());
    return success();
  }
};

/// x and nothing-is-allowed -> nothing; x or everything-is-allowed -> everything.
template <typename OpTy, typename AbsorberTy> struct AbsorbMasks : OpRewritePattern<OpTy> {
  using OpRewritePattern<OpTy>::OpRewritePattern;
  LogicalResult matchAndRewrite(OpTy op, PatternRewriter &rewriter) const override {
    for (Value mask : op.getMasks())
      if (auto inner = mask.getDefiningOp<AbsorberTy>(); inner && inner.getMasks().empty()) {
        rewriter.replaceOp(op, mask);
        return success();
      }
    return rewriter.notifyMatchFailure(op, "has no absorbing mask");
  }
};

/// x and not x -> nothing; x or not x -> everything.
template <typename OpTy, typename ResultTy> struct DecideByOpposites : OpRewritePattern<OpTy> {
  using OpRewritePattern<OpTy>::OpRewritePattern;
  LogicalResult matchAndRewrite(OpTy op, PatternRewriter &rewriter) const override {
    for (Value mask : op.getMasks())
      if (auto inner = mask.getDefiningOp<MaskNotOp>();
          inner && llvm::is_contained(op.getMasks(), inner.getMask())) {
        rewriter.replaceOpWithNewOp<ResultTy>(op, op.getType(), ValueRange());
        return success();
      }
    return rewriter.notifyMatchFailure(op, "has no mask beside its opposite");
  }
};

/// The bounds of a causal or window mask.
struct Band {
  std::optional<int64_t> left, right;
};

std::optional<Band> getBand(Value mask) {
  if (mask.getDefiningOp<MaskCausalOp>())
    return Band{std::nullopt, 0};
  if (auto window = mask.getDefiningOp<MaskWindowOp>()) {
    Band band;
    if (window.getLeft())
      band.left = static_cast<int64_t>(*window.getLeft());
    if (window.getRight())
      band.right = static_cast<int64_t>(*window.getRight());
    return band;
  }
  return std::nullopt;
}

/// The mask of a band; empty bands are for the caller.
Value createBand(OpBuilder &builder, Location loc, Band band) {
  if (!band.left && band.right == 0)
    return MaskCausalOp::create(builder, loc, MaskType::get(builder.getContext()));
  IntegerAttr left = band.left ? builder.getI64IntegerAttr(*band.left) : IntegerAttr();
  IntegerAttr right = band.right ? builder.getI64IntegerAttr(*band.right) : IntegerAttr();
  return MaskWindowOp::create(builder, loc, MaskType::get(builder.getContext()), left, right);
}

/// causal and window(left, right) -> window(left, min(right, 0)); two windows -> their
/// intersection.
struct IntersectBands : OpRewritePattern<MaskAndOp> {
  using OpRewritePattern::OpRewritePattern;
  LogicalResult matchAndRewrite(MaskAndOp op, PatternRewriter &rewriter) const override {
    SmallVector<Value> others;
    Band all;
    unsigned bands = 0;
    auto tighten = [](std::optional<int64_t> &bound, std::optional<int64_t> next) {
      if (next)
        bound = bound ? std::min(*bound, *next) : *next;
    };
    for (Value mask : op.getMasks()) {
      std::optional<Band> band = getBand(mask);
      if (!band) {
        others.push_back(mask);
        continue;
      }
      ++bands;
      tighten(all.left, band->left);
      tighten(all.right, band->right);
    }
    if (bands < 2)
      return rewriter.notifyMatchFailure(op, "has fewer than two bands");
    if (all.left && all.right && -*all.left > *all.right) {
      rewriter.replaceOpWithNewOp<MaskOrOp>(op, op.getType(), ValueRange()); // no key is in both
      return success();
    }
    others.push_back(createBand(rewriter, op.getLoc(), all));
    rewriter.replaceOpWithNewOp<MaskAndOp>(op, op.getType(), others);
    return success();
  }
};

/// not(everything) -> nothing, not(nothing) -> everything.
struct NegateConstantMask : OpRewritePattern<MaskNotOp> {
  using OpRewritePattern::OpRewritePattern;
  LogicalResult matchAndRewrite(MaskNotOp op, PatternRewriter &rewriter) const override {
    Operation *inner = op.getMask().getDefiningOp();
    if (!isa_and_nonnull<MaskAndOp, MaskOrOp>(inner) || inner->getNumOperands() != 0)
      return rewriter.notifyMatchFailure(op, "the mask is not constant");
    if (isa<MaskAndOp>(inner))
      rewriter.replaceOpWithNewOp<MaskOrOp>(op, op.getType(), ValueRange());
    else
      rewriter.replaceOpWithNewOp<MaskAndOp>(op, op.getType(), ValueRange());
    return success();
  }
};

} // namespace

//===-- Masks of known pairs -----------------------------------------------------------------===//

/// Lengths that are constant and no smaller than the key length cut nothing off.
static FailureOr<Value> simplifyLength(OpBuilder &builder, MaskLengthOp length,
                                       const MaskPairs &pairs) {
  DenseIntElementsAttr lengths;
  if (!pairs.keys || !matchPattern(length.getLengths(), m_Constant(&lengths)))
    return failure();
  for (APInt value : lengths)
    if (value.getSExtValue() < *pairs.keys)
      return failure();
  return MaskAndOp::create(builder, length.getLoc(), length.getType(), ValueRange()).getResult();
}

/// A constant tensor of ones between two diagonals is a window, or causal; of ones only, no mask.
static FailureOr<Value> simplifyDense(OpBuilder &builder, MaskDenseOp dense,
                                      const MaskPairs &pairs) {
  DenseIntElementsAttr elements;
  auto type = cast<RankedTensorType>(dense.getMask().getType());
  if (!matchPattern(dense.getMask(), m_Constant(&elements)))
    return failure();
  if (elements.isSplat()) {
    bool allowed = !elements.getSplatValue<APInt>().isZero();
    return allowed ? MaskAndOp::create(builder, dense.getLoc(), dense.getType(), ValueRange())
                         .getResult()
                   : MaskOrOp::create(builder, dense.getLoc(), dense.getType(), ValueRange())
                         .getResult();
  }
  if (!pairs.areIndices || type.getRank() < 2)
    return failure();
  int64_t rows = type.getDimSize(type.getRank() - 2), columns = type.getShape().back();
  if (rows * columns != type.getNumElements() || rows == 1 || columns == 1)
    return failure();
  // If this is a band, then the one between its allowed keys' outermost diagonals.
  int64_t least = columns, most = -rows, place = 0;
  for (APInt value : elements) {
    int64_t diagonal = place % columns - place / columns;
    if (!value.isZero()) {
      least = std::min(least, diagonal);
      most = std::max(most, diagonal);
    }
    ++place;
  }
  place = 0;
  for (APInt value : elements) {
    int64_t diagonal = place % columns - place / columns;
    if (value.isZero() == (diagonal >= least && diagonal <= most))
      return failure();
    ++place;
  }
  Band band;
  if (least > -(rows - 1))
    band.left = -least;
  if (most < columns - 1)
    band.right = most;
  if (!band.left && !band.right) // nothing is forbidden, by elements that are not all the same
    return MaskAndOp::create(builder, dense.getLoc(), dense.getType(), ValueRange()).getResult();
  return createBand(builder, dense.getLoc(), band);
}

FailureOr<Value> mlir::fovea::simplifyMask(OpBuilder &builder, Value mask, const MaskPairs &pairs) {
  if (auto length = mask.getDefiningOp<MaskLengthOp>())
    return simplifyLength(builder, length, pairs);
  if (auto dense = mask.getDefiningOp<MaskDenseOp>())
    return simplifyDense(builder, dense, pairs);
  Operation *combination = mask.getDefiningOp();
  if (!isa_and_nonnull<MaskAndOp, MaskOrOp, MaskNotOp>(combination))
    return failure();
  SmallVector<Value> inner(combination->getOperands());
  bool changed = false;
  for (Value &value : inner) {
    FailureOr<Value> simpler = simplifyMask(builder, value, pairs);
    if (succeeded(simpler)) {
      value = *simpler;
      changed = true;
    }
  }
  if (!changed)
    return failure();
  Operation *clone = builder.clone(*combination);
  clone->setOperands(inner);
  return clone->getResult(0);
}

void MaskAndOp::getCanonicalizationPatterns(RewritePatternSet &patterns, MLIRContext *context) {
  patterns.add<FlattenMasks<MaskAndOp>, AbsorbMasks<MaskAndOp, MaskOrOp>,
               DecideByOpposites<MaskAndOp, MaskOrOp>, IntersectBands>(context);
}

void MaskOrOp::getCanonicalizationPatterns(RewritePatternSet &patterns, MLIRContext *context) {
  patterns.add<FlattenMasks<MaskOrOp>, AbsorbMasks<MaskOrOp, MaskAndOp>,
               DecideByOpposites<MaskOrOp, MaskAndOp>>(context);
}

void MaskNotOp::getCanonicalizationPatterns(RewritePatternSet &patterns, MLIRContext *context) {
  patterns.add<NegateConstantMask>(context);
}
