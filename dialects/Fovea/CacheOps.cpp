// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Caches: verifiers, and the length of a cache that was just made or grown.
#include "dialects/Fovea/FoveaDialect.h"
#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/Tensor/IR/Tensor.h"
#include "mlir/IR/PatternMatch.h"

using namespace mlir;
using namespace mlir::fovea;

LogicalResult CacheAppendOp::verify() {
  CacheType cache = getCache().getType();
  auto input = getInput().getType();
  if (input.getDimSize(2) != cache.getHeads() || input.getDimSize(3) != cache.getSize()) // C1
    return emitOpError("expects heads and size ")
           << cache.getHeads() << " and " << cache.getSize() << ", got " << input;
  if (bool(getScales()) != bool(getGrownScales()) ||
      bool(getScales()) != cache.getElementType().isInteger(8)) // C3
    return emitOpError("expects scales of a cache of i8 and of no other, got ")
           << cache << (getScales() ? " with scales" : " without scales");
  if (!getScales())
    return success();
  for (Value scales : {getScales(), getGrownScales()})
    if (scales.getType() != getScalesType(cache)) // C3
      return emitOpError("expects scales of type ")
             << getScalesType(cache) << ", got " << scales.getType();
  return success();
}

CacheType CacheAppendOp::getScalesType(CacheType integers) {
  MLIRContext *context = integers.getContext();
  return CacheType::get(context, integers.getKind(), integers.getHeads(), 1,
                        Float32Type::get(context));
}

void CacheAppendOp::build(OpBuilder &, OperationState &state, Value cache, Value input,
                          Value scales) {
  state.addOperands({cache, input});
  state.addTypes(cache.getType());
  if (!scales)
    return;
  state.addOperands(scales);
  state.addTypes(scales.getType());
}

void CacheAppendOp::requireSizes(function_ref<void(SizeRule)> require) {
  require({getInput(), 0, getCache(), 0}); // C2
  if (getScales()) {
    require({getInput(), 0, getScales(), 0});
    require({getCache(), 1, getScales(), 1});
  }
}

namespace {
/// length(create) = 0; length(append(c, x)) = length(c) + x's sequence.
struct LengthOfKnownCache : OpRewritePattern<CacheLengthOp> {
  using OpRewritePattern::OpRewritePattern;
  LogicalResult matchAndRewrite(CacheLengthOp op, PatternRewriter &rewriter) const override {
    Operation *source = op.getCache().getDefiningOp();
    Location loc = op.getLoc();
    if (isa_and_nonnull<CacheCreateOp>(source)) {
      rewriter.replaceOpWithNewOp<arith::ConstantIndexOp>(op, 0);
      return success();
    }
    auto append = dyn_cast_or_null<CacheAppendOp>(source);
    if (!append)
      return rewriter.notifyMatchFailure(op, "the cache comes from outside");
    Value before = CacheLengthOp::create(rewriter, loc, append.getContinued(op.getCache()));
    Value added = getValueOrCreateConstantIndexOp(rewriter, loc,
                                                  getSize(rewriter, loc, append.getInput(), 1));
    rewriter.replaceOpWithNewOp<arith::AddIOp>(op, before, added);
    return success();
  }
};
} // namespace

/// What is appended may be of an open length.
void CacheAppendOp::getCanonicalizationPatterns(RewritePatternSet &patterns, MLIRContext *) {
  patterns.add(+[](CacheAppendOp op, PatternRewriter &rewriter) -> LogicalResult {
    auto cast = op.getInput().getDefiningOp<tensor::CastOp>();
    if (!cast || !tensor::canFoldIntoConsumerOp(cast))
      return rewriter.notifyMatchFailure(op, "what is appended is as it was made");
    rewriter.modifyOpInPlace(op, [&] { op.getInputMutable().assign(cast.getSource()); });
    return success();
  });
}

void CacheLengthOp::getCanonicalizationPatterns(RewritePatternSet &patterns, MLIRContext *context) {
  patterns.add<LengthOfKnownCache>(context);
}

LogicalResult CacheReadOp::verify() {
  CacheType cache = getCache().getType();
  RankedTensorType output = getOutput().getType();
  if (!output.isDynamicDim(0) || !output.isDynamicDim(1) ||
      output.getDimSize(2) != cache.getHeads() || output.getDimSize(3) != cache.getSize()) // C1
    return emitOpError("expects a tensor of open batch and length, ")
           << cache.getHeads() << " heads and size " << cache.getSize() << ", got " << output;
  if (!isa<FloatType>(cache.getElementType()) ||
      output.getElementType() != cache.getElementType()) // C2
    return emitOpError("expects a tensor of the cache's floats, got ") << output << " of " << cache;
  return success();
}

LogicalResult CacheReadOp::reifyResultShapes(OpBuilder &b, ReifiedRankedShapedTypeDims &shapes) {
  CacheType cache = getCache().getType();
  shapes.push_back(
      {getBatch(), getLength(), b.getIndexAttr(cache.getHeads()), b.getIndexAttr(cache.getSize())});
  return success();
}

//===-- Tiles --------------------------------------------------------------------------------===//

TileNeeds CacheAppendOp::getTileNeeds() {
  return {TileNeeds::Elements, 0, /*located=*/true, /*heads=*/true};
}

/// The result is no tensor: tiles of the input are stored behind the cache's length.
bool CacheAppendOp::visitTileOperands(TileVisitor &visitor) {
  // Scales are stored with their integers.
  if (getScales() && (!isa<BlockArgument>(getScales()) ||
                      llvm::none_of(getResult().getUsers(), llvm::IsaPred<YieldOp>)))
    return false;
  return isa<BlockArgument>(getCache()) && visitor.visit(getInput(), TileRole::Tile);
}
