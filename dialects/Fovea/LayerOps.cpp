// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Linear, embedding, norms, activations, pooling, argmax: verifiers and result sizes.
#include "dialects/ElementTypes.h"
#include "dialects/Fovea/Blocks.h"
#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/Linalg/IR/Linalg.h"
#include "mlir/Dialect/Tensor/IR/Tensor.h"
#include "mlir/IR/Builders.h"
#include "mlir/IR/Matchers.h"
#include "mlir/IR/PatternMatch.h"
#include <cmath>

using namespace mlir;
using namespace mlir::fovea;

LogicalResult mlir::fovea::reifyByAxes(OpBuilder &builder, Operation *op,
                                       ReifiedRankedShapedTypeDims &shapes) {
  Value operand = cast<AxesOpInterface>(op).getAxesOperand();
  for (Type result : op->getResultTypes()) {
    auto type = cast<RankedTensorType>(result);
    SmallVector<OpFoldResult> &shape = shapes.emplace_back();
    for (int64_t axis = 0; axis < type.getRank(); ++axis)
      shape.push_back(type.isDynamicDim(axis)
                          ? getSize(builder, op->getLoc(), operand, axis)
                          : OpFoldResult(builder.getIndexAttr(type.getDimSize(axis))));
  }
  return success();
}

/// Checks a vector operand (a norm's weight or bias, a projection's bias) against an axis.
static LogicalResult verifyVector(Operation *op, Value vector, StringRef name, int64_t size) {
  if (!vector || cast<RankedTensorType>(vector.getType()).getDimSize(0) == size)
    return success();
  return op->emitOpError("expects a ")
         << name << " of " << size << " elements, got " << vector.getType();
}

static LogicalResult verifyEps(Operation *op, const APFloat &eps) {
  double value = eps.convertToDouble();
  if (std::isfinite(value) && value >= 0)
    return success();
  return op->emitOpError("expects a finite eps of at least 0, got ") << value;
}

static LogicalResult verifyLastAxis(Operation *op, RankedTensorType type) {
  if (type.getRank() >= 1 && !ShapedType::isDynamic(type.getShape().back()))
    return success();
  return op->emitOpError("expects a static last axis, got ") << type;
}

LogicalResult mlir::fovea::verifyTable(Operation *op, RankedTensorType table) {
  if (!table.hasStaticShape())
    return op->emitOpError("expects a table of static shape, got ") << table;
  if (table.getDimSize(0) == 0)
    return op->emitOpError("expects a table with rows, got ") << table;
  return success();
}

LogicalResult mlir::fovea::verifyWidening(Operation *op, RankedTensorType from,
                                          RankedTensorType to) {
  Type narrow = from.getElementType(), wide = to.getElementType();
  if (narrow == wide || narrow.getIntOrFloatBitWidth() < wide.getIntOrFloatBitWidth())
    return success();
  return op->emitOpError("expects a result that holds every ") << narrow << ", got " << wide;
}

//===-- Linear -------------------------------------------------------------------------------===//

static LogicalResult verifyScales(LinearOp op) {
  RankedTensorType weight = op.getWeight().getType(), scales = op.getScales().getType();
  int64_t outputs = weight.getDimSize(0), inputs = weight.getDimSize(1);
  if (!scales.hasStaticShape() || scales.getDimSize(0) != outputs) // C5
    return op.emitOpError("expects scales for ") << outputs << " outputs, got " << scales;
  if (scales.getRank() == 1 && !scales.getElementType().isF32()) // C5
    return op.emitOpError("expects one scale for each output to be f32, got ") << scales;
  if (scales.getRank() == 2 && (scales.getDimSize(1) == 0 || inputs % scales.getDimSize(1) != 0))
    return op.emitOpError("expects groups that divide ") // C5
           << inputs << " inputs evenly, got " << scales;
  int64_t share = getElementsPerByte(weight.getElementType());
  if (inputs % share != 0 || op.getScaledInputs() % share != 0) // C6
    return op.emitOpError("expects an even number of inputs in rows and groups of i4, got ")
           << op.getScaledInputs() << " of " << inputs;
  return success();
}

/// The number of experts, whose matrices the weight holds.
static LogicalResult verifyExperts(LinearOp op) {
  RankedTensorType experts = op.getExperts().getType(), weight = op.getWeight().getType();
  if (experts.getRank() == 1 && experts.hasStaticShape() && experts.getDimSize(0) > 1 &&
      weight.getDimSize(0) % op.getNumExperts() == 0 && op.getInput().getType().getRank() > 1) // C8
    return success();
  return op.emitOpError("expects rows that experts share, and a number of experts that divides ")
         << weight.getDimSize(0) << ", got " << op.getInput().getType() << " and " << experts;
}

LogicalResult LinearOp::verify() {
  auto input = getInput().getType(), result = getResult().getType();
  auto weight = getWeight().getType();
  if (!weight.hasStaticShape()) // C1
    return emitOpError("expects a weight of static shape, got ") << weight;
  if (input.getRank() < 1 || input.getShape().back() != weight.getDimSize(1)) // C1
    return emitOpError("expects the input's last axis to be the weight's ")
           << weight.getDimSize(1) << ", got " << input;
  if (getExperts() && failed(verifyExperts(*this))) // C8
    return failure();
  SmallVector<int64_t> expected(input.getShape());
  expected.back() = getOutputs();
  Type element = result.getElementType();
  bool isSum = isHalf(input.getElementType()) && element.isF32();
  if ((element != input.getElementType() && !isSum) || !agree(result.getShape(), expected)) // C2
    return emitOpError("expects a result like ")
           << RankedTensorType::get(expected, input.getElementType()) << ", got " << result;
  if (failed(verifyVector(*this, getBias(), "bias", weight.getDimSize(0)))) // C3
    return failure();
  std::optional<BlockFormat> blocks = getBlockFormat(weight);
  bool isOfIntegers = weight.getElementType().isInteger();
  if (isOfIntegers != !!getScales()) // C4
    return emitOpError(isOfIntegers ? "expects scales for a weight of integers, got "
                       : blocks     ? "expects no scales beside a weight of blocks, got "
                                    : "expects no scales for a weight of floats, got ")
           << weight;
  if (blocks && weight.getDimSize(1) % blocks->elements != 0) // C6
    return emitOpError("expects whole blocks of ")
           << blocks->elements << " inputs in each row, got " << weight;
  if (getQuantizeRows() && (!isQuantized() || !input.getElementType().isF32() ||
                            weight.getDimSize(1) > kMostQuantizedInputs)) // C7
    return emitOpError("expects to quantize rows of f32, of at most ")
           << kMostQuantizedInputs << " elements, for a weight of integers, got " << input
           << " and " << weight;
  return getScales() ? verifyScales(*this) : success();
}

bool mlir::fovea::quantizesRows(Operation *op) {
  auto linear = dyn_cast<LinearOp>(op);
  return linear && linear.getQuantizeRows();
}

bool LinearOp::isQuantized() {
  return getScales() || getBlockFormat(getWeight().getType()).has_value();
}

bool LinearOp::hasGroups() {
  return getScales() ? getScales().getType().getRank() == 2
                     : getBlockFormat(getWeight().getType()).has_value();
}

int64_t LinearOp::getScaledInputs() {
  if (std::optional<BlockFormat> blocks = getBlockFormat(getWeight().getType()))
    return blocks->group;
  int64_t inputs = getWeight().getType().getDimSize(1);
  if (!getScales() || getScales().getType().getRank() == 1)
    return inputs;
  int64_t groups = getScales().getType().getDimSize(1);
  return groups > 0 ? inputs / groups : inputs;
}

//===-- Embedding ----------------------------------------------------------------------------===//

LogicalResult EmbeddingOp::verify() {
  SmallVector<int64_t> expected(getIds().getType().getShape());
  expected.push_back(getTable().getType().getDimSize(1));
  if (failed(verifyTable(*this, getTable().getType()))) // C1
    return failure();
  if (!agree(getResult().getType().getShape(), expected)) // C1
    return emitOpError("expects a result like ")
           << RankedTensorType::get(expected, getResult().getType().getElementType()) << ", got "
           << getResult().getType();
  RankedTensorType table = getTable().getType();
  std::optional<BlockFormat> blocks = getBlockFormat(table);
  if (!table.getElementType().isInteger() && getScales()) // C3
    return emitOpError("expects no scales for a table of floats or blocks, got ") << table;
  if (!table.getElementType().isInteger() && !blocks)
    return verifyWidening(*this, table, getResult().getType()); // C2
  if (blocks && table.getDimSize(1) % blocks->elements != 0)    // C3
    return emitOpError("expects whole blocks of ")
           << blocks->elements << " in each row, got " << table;
  if (!getResult().getType().getElementType().isF32()) // C2
    return emitOpError("expects a result of f32 for a table of integers or blocks, got ")
           << getResult().getType();
  if (blocks)
    return success();
  ArrayRef<int64_t> rows = table.getShape().take_front();
  if (!getScales() || getScales().getType().getShape() != rows) // C3
    return emitOpError("expects a scale of f32 for each of ")
           << rows.front() << " rows of integers, got "
           << (getScales() ? Type(getScales().getType()) : Type(table));
  return success();
}

//===-- Norms --------------------------------------------------------------------------------===//

LogicalResult LayerNormOp::verify() {
  if (failed(verifyLastAxis(*this, getInput().getType()))) // C1
    return failure();
  int64_t size = getInput().getType().getShape().back();
  if (failed(verifyVector(*this, getWeight(), "weight", size)) ||
      failed(verifyVector(*this, getBias(), "bias", size))) // C1
    return failure();
  return verifyEps(*this, getEps()); // C2
}

LogicalResult RmsNormOp::verify() {
  if (failed(verifyLastAxis(*this, getInput().getType())) ||
      failed(
          verifyVector(*this, getWeight(), "weight", getInput().getType().getShape().back()))) // C1
    return failure();
  return verifyEps(*this, getEps()); // C2
}

LogicalResult GatedNormOp::verify() {
  if (failed(verifyLastAxis(*this, getInput().getType())) ||
      failed(
          verifyVector(*this, getWeight(), "weight", getInput().getType().getShape().back()))) // C1
    return failure();
  return verifyEps(*this, getEps()); // C2
}

void GatedNormOp::requireSizes(function_ref<void(SizeRule)> require) {
  for (int64_t axis = 0; axis < getInput().getType().getRank(); ++axis)
    require({getGate(), axis, getInput(), axis}); // C3
}

LogicalResult L2NormOp::verify() {
  if (failed(verifyLastAxis(*this, getInput().getType()))) // C1
    return failure();
  return verifyEps(*this, getEps()); // C2
}

//===-- Elementwise, pooling -----------------------------------------------------------------===//

LogicalResult DropoutOp::verify() {
  double rate = getRate().convertToDouble();
  if (!(rate >= 0 && rate < 1)) // C1
    return emitOpError("expects a rate of at least 0 and below 1, got ") << rate;
  return success();
}

LogicalResult PoolOp::verify() {
  auto input = getInput().getType(), result = getResult().getType();
  if (failed(verifyLastAxis(*this, input))) // C1
    return failure();
  if (result.getElementType() != input.getElementType() ||
      !agree(result.getDimSize(0), input.getDimSize(0)) ||
      result.getDimSize(1) != input.getDimSize(2)) // C1
    return emitOpError("expects a result like ")
           << RankedTensorType::get({input.getDimSize(0), input.getDimSize(2)},
                                    input.getElementType())
           << ", got " << result;
  if (getKeep()) { // C2
    auto keep = cast<RankedTensorType>(getKeep().getType());
    if (!agree(keep.getShape(), input.getShape().take_front(2)))
      return emitOpError("expects to keep places of the sequence ") << input << ", got " << keep;
  }
  return success();
}

void PoolOp::requireSizes(function_ref<void(SizeRule)> require) {
  if (Value keep = getKeep()) // C2
    for (int64_t axis : {0, 1})
      require({keep, axis, getInput(), axis});
}

/// Whether each vector of the result is made of the same one of the first operand, zeros of zeros.
static bool mapsRows(Operation *op) {
  if (auto linear = dyn_cast<LinearOp>(op))
    return !linear.getBias() && !linear.getExperts();
  return isa<RmsNormOp, arith::ExtFOp, arith::TruncFOp>(op);
}

namespace {
/// One place of a sequence is taken before its rows are multiplied, not behind that.
struct PoolBeforeRows : OpRewritePattern<PoolOp> {
  using OpRewritePattern::OpRewritePattern;
  LogicalResult matchAndRewrite(PoolOp op, PatternRewriter &rewriter) const override {
    bool takesOne = op.getKind() == PoolKind::First || op.getKind() == PoolKind::Last;
    Operation *rows = op.getInput().getDefiningOp();
    if (!takesOne || op.getKeep() || !rows || !mapsRows(rows) || !rows->hasOneUse())
      return rewriter.notifyMatchFailure(op, "the sequence is not made row by row for it");
    auto type = cast<RankedTensorType>(rows->getOperand(0).getType());
    if (type.getRank() != 3 || type.isDynamicDim(2))
      return rewriter.notifyMatchFailure(op, "rows are of no known size");
    Value row = PoolOp::create(
        rewriter, op.getLoc(),
        RankedTensorType::get({type.getDimSize(0), type.getDimSize(2)}, type.getElementType()),
        op.getKind(), rows->getOperand(0), /*keep=*/Value());
    Operation *copy = rewriter.clone(*rows);
    rewriter.modifyOpInPlace(copy, [&] {
      copy->setOperand(0, row);
      copy->getResult(0).setType(op.getType());
    });
    rewriter.replaceOp(op, copy);
    return success();
  }
};

/// The only place of a sequence.
struct PoolOfOne : OpRewritePattern<PoolOp> {
  using OpRewritePattern::OpRewritePattern;
  LogicalResult matchAndRewrite(PoolOp op, PatternRewriter &rewriter) const override {
    bool takesOne = op.getKind() == PoolKind::First || op.getKind() == PoolKind::Last;
    if (!takesOne || op.getKeep() || op.getInput().getType().getDimSize(1) != 1)
      return rewriter.notifyMatchFailure(op, "there may be several places");
    SmallVector<ReassociationIndices> axes = {{0, 1}, {2}};
    rewriter.replaceOpWithNewOp<tensor::CollapseShapeOp>(op, op.getType(), op.getInput(), axes);
    return success();
  }
};
} // namespace

void PoolOp::getCanonicalizationPatterns(RewritePatternSet &patterns, MLIRContext *context) {
  patterns.add<PoolBeforeRows, PoolOfOne>(context);
}

//===-- Argmax -------------------------------------------------------------------------------===//

LogicalResult ArgmaxOp::verify() {
  auto input = getInput().getType(), result = getResult().getType();
  if (failed(verifyLastAxis(*this, input))) // C1
    return failure();
  if (input.getShape().back() == 0) // C1
    return emitOpError("expects a row to have an element, got ") << input;
  ArrayRef<int64_t> expected = input.getShape().drop_back();
  if (!agree(result.getShape(), expected)) // C2
    return emitOpError("expects a result like ")
           << RankedTensorType::get(expected, result.getElementType()) << ", got " << result;
  return success();
}

//===-- Tiles --------------------------------------------------------------------------------===//

bool LinearOp::isRouter() {
  return llvm::any_of((*this)->getUsers(), [](Operation *user) {
    return isa<TopKOp>(user) || (isa<linalg::SoftmaxOp, ActivationOp>(user) &&
                                 llvm::any_of(user->getUsers(), llvm::IsaPred<TopKOp>));
  });
}

RmsNormOp LinearOp::getRowFactor() {
  auto norm = getInput().getDefiningOp<RmsNormOp>();
  // Of halves, what is multiplied is rounded before.
  bool isExact = norm && norm.getResult().getType().getElementType().isF32();
  return isExact && !norm.getWeight() ? norm : RmsNormOp();
}

TileNeeds LinearOp::getTileNeeds() {
  TileNeeds needs{TileNeeds::Product, getLeadingAxes(getInput())};
  needs.parts = getExperts();
  return needs;
}

/// A weight of floats, or of integers with their scales.
bool LinearOp::visitTileOperands(TileVisitor &visitor) {
  bool hasWeight = isQuantized() ? (isa<BlockArgument>(getWeight()) ||
                                    matchPattern(getWeight(), m_Constant())) &&
                                       visitor.visit(getScales(), TileRole::Parameter)
                                 : visitor.visit(getWeight(), TileRole::Parameter);
  if (!hasWeight || !visitor.visit(getBias(), TileRole::Parameter) ||
      !visitor.visit(getExperts(), TileRole::Offsets))
    return false;
  RmsNormOp factor = getRowFactor();
  if (getQuantizeRows())
    visitor.requirePhaseBefore(*this);
  else if (factor)
    visitor.requirePhaseBefore(factor);
  return visitor.visit(factor ? factor.getInput() : getInput(), TileRole::RowBuffer);
}

TileNeeds EmbeddingOp::getTileNeeds() { return {TileNeeds::Table, getLeadingAxes(getResult())}; }

bool EmbeddingOp::visitTileOperands(TileVisitor &visitor) {
  return visitor.getDomain().kind == TileKind::Rows &&
         (getScales() || getBlockFormat(getTable().getType())
              ? isa<BlockArgument>(getTable()) && visitor.visit(getScales(), TileRole::Parameter)
              : visitor.visit(getTable(), TileRole::Parameter)) &&
         visitor.visit(getIds(), TileRole::Ids);
}

TileNeeds LayerNormOp::getTileNeeds() { return {TileNeeds::WholeRow, getLeadingAxes(getInput())}; }

bool LayerNormOp::visitTileOperands(TileVisitor &visitor) {
  return visitor.hasWholeRows(getInput()) && visitor.visit(getWeight(), TileRole::Parameter) &&
         visitor.visit(getBias(), TileRole::Parameter) && visitor.visit(getInput(), TileRole::Tile);
}

TileNeeds RmsNormOp::getTileNeeds() { return {TileNeeds::WholeRow, getLeadingAxes(getInput())}; }

bool RmsNormOp::visitTileOperands(TileVisitor &visitor) {
  return visitor.hasWholeRows(getInput()) && visitor.visit(getWeight(), TileRole::Parameter) &&
         visitor.visit(getInput(), TileRole::Tile);
}

TileNeeds GatedNormOp::getTileNeeds() { return {TileNeeds::WholeRow, getLeadingAxes(getInput())}; }

bool GatedNormOp::visitTileOperands(TileVisitor &visitor) {
  return visitor.hasWholeRows(getInput()) && visitor.visit(getWeight(), TileRole::Parameter) &&
         visitor.visit(getInput(), TileRole::Tile) && visitor.visit(getGate(), TileRole::Tile);
}

TileNeeds L2NormOp::getTileNeeds() { return {TileNeeds::WholeRow, getLeadingAxes(getInput())}; }

bool L2NormOp::visitTileOperands(TileVisitor &visitor) {
  return visitor.hasWholeRows(getInput()) && visitor.visit(getInput(), TileRole::Tile);
}

/// The whole sequence; a program of its own, if any.
TileNeeds PoolOp::getTileNeeds() { return {TileNeeds::Sequence, 2}; }

bool PoolOp::visitTileOperands(TileVisitor &) { return false; }

TileNeeds ActivationOp::getTileNeeds() { return {TileNeeds::Elements}; }

bool ActivationOp::visitTileOperands(TileVisitor &visitor) {
  return visitor.visit(getInput(), TileRole::Tile);
}

TileNeeds GluOp::getTileNeeds() { return {TileNeeds::Elements}; }

bool GluOp::visitTileOperands(TileVisitor &visitor) {
  return visitor.visit(getGate(), TileRole::Tile) && visitor.visit(getUp(), TileRole::Tile);
}

TileNeeds DropoutOp::getTileNeeds() { return {TileNeeds::Elements}; }

bool DropoutOp::visitTileOperands(TileVisitor &visitor) {
  return visitor.visit(getInput(), TileRole::Tile);
}

//===-- Weights ------------------------------------------------------------------------------===//

WeightRole LinearOp::getWeightRole(OpOperand &use) {
  if (&use == &getWeightMutable())
    return WeightRole::Matrix;
  if (use.get() == getScales())
    return getScales().getType().getRank() == 2 ? WeightRole::GroupScales : WeightRole::Scales;
  return use.get() == getInput() || use.get() == getExperts() ? WeightRole::None
                                                              : WeightRole::Parameter;
}

WeightRole EmbeddingOp::getWeightRole(OpOperand &use) {
  if (&use == &getTableMutable())
    return WeightRole::Table;
  return use.get() == getScales() ? WeightRole::Scales : WeightRole::None;
}

/// All operands of a norm but its input.
static WeightRole getNormRole(OpOperand &use, Value input) {
  return use.get() == input ? WeightRole::None : WeightRole::Parameter;
}

WeightRole LayerNormOp::getWeightRole(OpOperand &use) { return getNormRole(use, getInput()); }
WeightRole RmsNormOp::getWeightRole(OpOperand &use) { return getNormRole(use, getInput()); }

WeightRole GatedNormOp::getWeightRole(OpOperand &use) {
  return &use == &getWeightMutable() ? WeightRole::Parameter : WeightRole::None;
}

//===-- Integers -----------------------------------------------------------------------------===//

IntegerRole EmbeddingOp::getIntegerRole(OpOperand &) {
  return {IntegerRole::Row, cast<RankedTensorType>(getTable().getType()).getDimSize(0)};
}
