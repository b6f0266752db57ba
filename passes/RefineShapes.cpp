// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// fovea-refine-shapes: result types as static as operands say. Works inside of functions; leaves
// alone what would not verify, and groups, whose regions are typed by their operands.
#include "dialects/Fovea/FoveaDialect.h"
#include "mlir/Dialect/Tensor/IR/Tensor.h"
#include "mlir/IR/Diagnostics.h"
#include "mlir/IR/PatternMatch.h"
#include "mlir/IR/Verifier.h"
#include "mlir/Transforms/GreedyPatternRewriteDriver.h"
#include "passes/Passes.h"
#include "llvm/ADT/ScopeExit.h"
#include "llvm/Support/Threading.h"

namespace mlir::fovea {
#define GEN_PASS_DEF_REFINESHAPESPASS
#include "passes/Passes.h.inc"
} // namespace mlir::fovea

using namespace mlir;
using namespace mlir::fovea;

namespace {

/// Takes sizes that `shape` leaves open from `other`; fails if two static ones differ.
LogicalResult refine(SmallVectorImpl<int64_t> &shape, ArrayRef<int64_t> other) {
  for (auto [mine, given] : llvm::zip_equal(shape, other)) {
    if (ShapedType::isDynamic(mine))
      mine = given;
    else if (!ShapedType::isDynamic(given) && mine != given)
      return failure();
  }
  return success();
}

/// Verifies without a word. Only this thread's diagnostics are held back.
bool verifiesQuietly(Operation *op) {
  uint64_t thread = llvm::get_threadid();
  ScopedDiagnosticHandler handler(
      op->getContext(), [thread](Diagnostic &) { return success(llvm::get_threadid() == thread); });
  return succeeded(verify(op));
}

/// Gives a result its new type, and its users the old one.
void changeResultType(OpResult result, RankedTensorType type, PatternRewriter &rewriter) {
  Type old = result.getType();
  rewriter.setInsertionPointAfter(result.getOwner());
  result.setType(type);
  auto cast = tensor::CastOp::create(rewriter, result.getLoc(), old, result);
  rewriter.replaceAllUsesExcept(result, cast, cast);
}

/// What a cast to a more open type was made of, where the op may read that instead.
Value withoutCast(OpOperand &operand) {
  auto cast = operand.get().getDefiningOp<tensor::CastOp>();
  if (!cast || !tensor::canFoldIntoConsumerOp(cast))
    return operand.get();
  // An operand that a region gets whole has its type there.
  if (auto scalar = dyn_cast<ElementRegionsOpInterface>(operand.getOwner()))
    for (const ElementRegion &of : scalar.getElementRegions()) {
      unsigned first = of.operands.empty() ? 0 : of.operands.getBeginOperandIndex();
      unsigned number = operand.getOperandNumber();
      if (number >= first && number < first + of.operands.size() && of.isWhole(number - first))
        return operand.get();
    }
  return cast.getSource();
}

/// An op on casts to more open types reads what was cast; what its operands then say of its results
/// (ReifyRankedShapedTypeOpInterface) becomes their type.
struct RefineOp : RewritePattern {
  explicit RefineOp(MLIRContext *context)
      : RewritePattern(MatchAnyOpTypeTag(), /*benefit=*/1, context) {}

  LogicalResult matchAndRewrite(Operation *op, PatternRewriter &rewriter) const override {
    if (!isa_and_nonnull<FoveaDialect>(op->getDialect()) ||
        !isa<ReifyRankedShapedTypeOpInterface>(op) ||
        isa<GroupOp, PositionsOp, MaskMaterializeOp>(op))
      return rewriter.notifyMatchFailure(op, "has results that no operand's type decides");
    SmallVector<Value> operands = llvm::map_to_vector(
        op->getOpOperands(), [&](OpOperand &operand) { return withoutCast(operand); });
    SmallVector<Type> types(operands.size()), results(op->getResultTypes());
    if (failed(tryOut(op, operands, types, results)) ||
        (llvm::equal(operands, op->getOperands()) && llvm::equal(results, op->getResultTypes())))
      return rewriter.notifyMatchFailure(op, "its operands say nothing new");

    for (auto [operand, type] : llvm::zip_equal(operands, types))
      if (type && type != operand.getType())
        operand = tensor::CastOp::create(rewriter, op->getLoc(), type, operand);
    rewriter.modifyOpInPlace(op, [&] {
      op->setOperands(operands);
      for (auto [result, type] : llvm::zip_equal(op->getResults(), results))
        if (type != result.getType())
          changeResultType(result, cast<RankedTensorType>(type), rewriter);
    });
    return success();
  }

private:
  /// Finds the types of results (and of operands, where all types are the same) on a copy that no
  /// one else sees and that is gone afterwards.
  static LogicalResult tryOut(Operation *op, ArrayRef<Value> operands, MutableArrayRef<Type> types,
                              SmallVectorImpl<Type> &results) {
    OpBuilder builder(op); // without the rewriter's listener: nothing of this stays
    Operation *before = op->getPrevNode();
    llvm::scope_exit cleanUp([&] {
      while (op->getPrevNode() != before)
        op->getPrevNode()->erase();
    });
    SmallVector<Value> given(operands);
    if (op->hasTrait<OpTrait::SameOperandsAndResultType>()) {
      auto type = cast<RankedTensorType>(operands.front().getType());
      SmallVector<int64_t> shape(type.getShape());
      for (Value operand : operands)
        if (failed(refine(shape, cast<RankedTensorType>(operand.getType()).getShape())))
          return failure();
      for (auto [value, operandType] : llvm::zip_equal(given, types)) {
        operandType = type.clone(shape);
        if (operandType != value.getType())
          value = tensor::CastOp::create(builder, op->getLoc(), operandType, value);
      }
    }
    Operation *copy = builder.clone(*op);
    copy->setOperands(given);
    builder.setInsertionPoint(copy);
    ReifiedRankedShapedTypeDims shapes;
    if (failed(cast<ReifyRankedShapedTypeOpInterface>(copy).reifyResultShapes(builder, shapes)))
      return failure();
    for (auto [result, type, sizes] : llvm::zip(copy->getResults(), results, shapes)) {
      auto tensor = dyn_cast<RankedTensorType>(type);
      if (!tensor)
        continue;
      SmallVector<int64_t> shape(tensor.getShape()), found;
      for (OpFoldResult size : sizes)
        found.push_back(getConstantIntValue(size).value_or(ShapedType::kDynamic));
      if (failed(refine(shape, found)))
        return failure();
      type = tensor.clone(shape);
      result.setType(type);
    }
    return success(verifiesQuietly(copy));
  }
};

/// An elementwise op on whole tensors, whose types have one shape.
struct RefineElementwise : RewritePattern {
  explicit RefineElementwise(MLIRContext *context)
      : RewritePattern(MatchAnyOpTypeTag(), /*benefit=*/1, context) {}

  LogicalResult matchAndRewrite(Operation *op, PatternRewriter &rewriter) const override {
    auto old = op->getNumResults() == 1 ? dyn_cast<RankedTensorType>(op->getResult(0).getType())
                                        : RankedTensorType();
    if (!old || !OpTrait::hasElementwiseMappableTraits(op))
      return rewriter.notifyMatchFailure(op, "is not elementwise on tensors");
    SmallVector<int64_t> shape(old.getShape());
    SmallVector<Value> operands = llvm::map_to_vector(
        op->getOpOperands(), [&](OpOperand &operand) { return withoutCast(operand); });
    for (Value operand : operands) {
      auto type = dyn_cast<RankedTensorType>(operand.getType());
      if (!type || failed(refine(shape, type.getShape())))
        return rewriter.notifyMatchFailure(op, "has scalars, or sizes that contradict each other");
    }
    if (ArrayRef(shape) == old.getShape())
      return rewriter.notifyMatchFailure(op, "its operands say nothing new");
    for (Value &operand : operands)
      if (auto type = cast<RankedTensorType>(operand.getType()).clone(shape);
          type != operand.getType())
        operand = tensor::CastOp::create(rewriter, op->getLoc(), type, operand);
    rewriter.modifyOpInPlace(op, [&] {
      op->setOperands(operands);
      changeResultType(op->getResult(0), old.clone(shape), rewriter);
    });
    return success();
  }
};

/// A constant count is part of the type.
struct RefinePositions : OpRewritePattern<PositionsOp> {
  using OpRewritePattern::OpRewritePattern;
  LogicalResult matchAndRewrite(PositionsOp op, PatternRewriter &rewriter) const override {
    std::optional<int64_t> count =
        op.getCount() ? getConstantIntValue(op.getCount()) : std::optional<int64_t>();
    if (!count || *count < 0)
      return rewriter.notifyMatchFailure(op, "has no constant count");
    rewriter.modifyOpInPlace(op, [&] {
      op.getCountMutable().clear();
      changeResultType(cast<OpResult>(op.getResult()), op.getResult().getType().clone({1, *count}),
                       rewriter);
    });
    return success();
  }
};

/// Constant sizes are part of the type.
struct RefineMaterialize : OpRewritePattern<MaskMaterializeOp> {
  using OpRewritePattern::OpRewritePattern;
  LogicalResult matchAndRewrite(MaskMaterializeOp op, PatternRewriter &rewriter) const override {
    auto type = cast<RankedTensorType>(op.getResult().getType());
    SmallVector<int64_t> shape(type.getShape());
    SmallVector<Value> open;
    unsigned next = 0;
    for (int64_t &size : shape) {
      if (!ShapedType::isDynamic(size))
        continue;
      Value given = op.getSizes()[next++];
      std::optional<int64_t> constant = getConstantIntValue(given);
      if (constant && *constant >= 0)
        size = *constant;
      else
        open.push_back(given);
    }
    auto sharper = type.clone(shape);
    if (sharper == type)
      return rewriter.notifyMatchFailure(op, "has no constant size");
    auto refined = MaskMaterializeOp::create(rewriter, op.getLoc(), sharper, op.getMask(), open,
                                             op.getQueryPositions(), op.getKeyPositions());
    if (!verifiesQuietly(refined)) {
      rewriter.eraseOp(refined);
      return rewriter.notifyMatchFailure(op, "its sizes contradict its mask");
    }
    rewriter.replaceOpWithNewOp<tensor::CastOp>(op, type, refined.getResult());
    return success();
  }
};

struct RefineShapesPass : fovea::impl::RefineShapesPassBase<RefineShapesPass> {
  void runOnOperation() override {
    MLIRContext *context = &getContext();
    RewritePatternSet patterns(context);
    patterns.add<RefineOp, RefineElementwise, RefinePositions, RefineMaterialize>(context);
    // Casts travel through all other ops by their canonicalisations.
    for (Dialect *dialect : context->getLoadedDialects())
      dialect->getCanonicalizationPatterns(patterns);
    for (RegisteredOperationName name : context->getRegisteredOperations())
      name.getCanonicalizationPatterns(patterns, context);
    if (failed(applyPatternsGreedily(getOperation(), std::move(patterns))))
      getOperation()->emitWarning("shapes are refined without an end; the rest stays as it is");
  }
};

} // namespace
