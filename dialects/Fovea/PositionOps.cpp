// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Rotary, sinusoidal and learned positions: verifiers and result sizes.
#include "dialects/Fovea/FoveaDialect.h"
#include "mlir/IR/Builders.h"
#include <cmath>

using namespace mlir;
using namespace mlir::fovea;

LogicalResult PositionsOp::verify() {
  auto type = getResult().getType();
  if (type.getDimSize(0) != 1) // C2
    return emitOpError("expects a result of one row, got ") << type;
  if (type.isDynamicDim(1) != bool(getCount())) // C1
    return emitOpError("expects a count exactly if the length is dynamic, got ") << type;
  return success();
}

LogicalResult PositionsOp::reifyResultShapes(OpBuilder &builder,
                                             ReifiedRankedShapedTypeDims &shapes) {
  OpFoldResult count = getCount() ? OpFoldResult(getCount())
                                  : builder.getIndexAttr(getResult().getType().getDimSize(1));
  shapes.push_back({builder.getIndexAttr(1), count});
  return success();
}

LogicalResult RopeOp::verify() {
  auto type = getInput().getType();
  int64_t dim = getDim();
  if (type.isDynamicDim(3)) // C1
    return emitOpError("expects a static head size, got ") << type;
  if (dim <= 0 || dim % 2 != 0 || dim > type.getDimSize(3)) // C2
    return emitOpError("expects an even dim between 2 and the head size ")
           << type.getDimSize(3) << ", got " << dim;
  auto positions = getPositions().getType();
  if ((positions.getDimSize(0) != 1 && !agree(positions.getDimSize(0), type.getDimSize(0))) ||
      !agree(positions.getDimSize(1), type.getDimSize(1))) // C3
    return emitOpError("expects positions for ") << type << ", got " << positions;
  double theta = getTheta().convertToDouble();
  if (!(std::isfinite(theta) && theta > 0)) // C4
    return emitOpError("expects a positive finite theta, got ") << theta;
  if (auto scaling = getScalingAttr())
    if (scaling.getKind() == RopeScalingKind::LongRope &&
        scaling.getShortFactors().size() != dim / 2) // C5
      return emitOpError("expects ")
             << dim / 2 << " longrope factors, got " << scaling.getShortFactors().size();
  return success();
}

void RopeOp::requireSizes(function_ref<void(SizeRule)> require) {
  require({getPositions(), 0, getInput(), 0, /*orOne=*/isOneForAll(getPositions())}); // C3
  require({getPositions(), 1, getInput(), 1});
}

static LogicalResult verifyAtPositions(Operation *op, RankedTensorType positions,
                                       RankedTensorType result, int64_t width) {
  if (!agree(result.getDimSize(0), positions.getDimSize(0)) ||
      !agree(result.getDimSize(1), positions.getDimSize(1)) || result.getDimSize(2) != width)
    return op->emitOpError("expects a result like ")
           << RankedTensorType::get({positions.getDimSize(0), positions.getDimSize(1), width},
                                    result.getElementType())
           << ", got " << result;
  return success();
}

LogicalResult PositionSinusoidalOp::verify() {
  auto result = cast<RankedTensorType>(getResult().getType());
  int64_t width = result.getDimSize(2);
  if (width <= 0 || width % 2 != 0) // C1
    return emitOpError("expects an even static width, got ") << result;
  double theta = getTheta().convertToDouble();
  if (!(std::isfinite(theta) && theta > 0)) // C2
    return emitOpError("expects a positive finite theta, got ") << theta;
  return verifyAtPositions(*this, getPositions().getType(), result, width); // C1
}

LogicalResult PositionLearnedOp::verify() {
  if (failed(verifyTable(*this, getTable().getType()))) // C1
    return failure();
  auto result = cast<RankedTensorType>(getResult().getType());
  if (failed(verifyAtPositions(*this, getPositions().getType(), result, // C1
                               getTable().getType().getDimSize(1))))
    return failure();
  return verifyWidening(*this, getTable().getType(), result); // C2
}

//===-- Tiles --------------------------------------------------------------------------------===//

/// Heads are turned apart, and their halves are; neighbours are turned where they lie beside each
/// other.
TileNeeds RopeOp::getTileNeeds() {
  auto dim = static_cast<int64_t>(getDim());
  SmallVector<int64_t> cuts{dim};
  if (getPairing() == RopePairing::Half)
    cuts.push_back(dim / 2);
  return {TileNeeds::Elements, 0, /*located=*/true, /*heads=*/true, cuts};
}

/// Frequencies that depend on the longest position of the call are computed of positions in memory,
/// and neighbours are read there.
bool RopeOp::visitTileOperands(TileVisitor &visitor) {
  RopeScalingAttr scaling = getScalingAttr();
  bool context = scaling && (scaling.getKind() == RopeScalingKind::Dynamic ||
                             scaling.getKind() == RopeScalingKind::LongRope);
  if (!visitor.visit(getPositions(), TileRole::Positions) ||
      (context && !isa<BlockArgument>(getPositions())))
    return false;
  visitor.requirePhaseBefore(*this);
  bool half = getPairing() == RopePairing::Half;
  return visitor.visit(getInput(), half ? TileRole::Tile : TileRole::RowBuffer);
}

TileNeeds PositionLearnedOp::getTileNeeds() { return {TileNeeds::Table, 2, /*located=*/true}; }

bool PositionLearnedOp::visitTileOperands(TileVisitor &visitor) {
  return visitor.getDomain().kind == TileKind::Rows &&
         visitor.visit(getTable(), TileRole::Parameter) &&
         visitor.visit(getPositions(), TileRole::Positions);
}

WeightRole PositionLearnedOp::getWeightRole(OpOperand &use) {
  return &use == &getTableMutable() ? WeightRole::Table : WeightRole::None;
}

IntegerRole PositionLearnedOp::getIntegerRole(OpOperand &) {
  return {IntegerRole::Row, getTable().getType().getDimSize(0) - static_cast<int64_t>(getOffset())};
}

IntegerRole RopeOp::getIntegerRole(OpOperand &) { return {IntegerRole::Position}; }
IntegerRole PositionSinusoidalOp::getIntegerRole(OpOperand &) { return {IntegerRole::Position}; }
