// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Routing of tokens to experts: verifiers, and which tiles gathers and sums of rows need.
#include "dialects/Fovea/FoveaDialect.h"

using namespace mlir;
using namespace mlir::fovea;

/// `shape` with another last axis.
static SmallVector<int64_t> withLast(ArrayRef<int64_t> shape, int64_t size) {
  SmallVector<int64_t> result(shape);
  result.back() = size;
  return result;
}

/// Checks that an operand is rows, of a known number of columns.
static LogicalResult verifyRows(Operation *op, RankedTensorType type) {
  if (type.getRank() > 1 && !type.isDynamicDim(type.getRank() - 1))
    return success();
  return op->emitOpError("expects rows of a static last axis, got ") << type;
}

static LogicalResult verifyShape(Operation *op, StringRef name, RankedTensorType found,
                                 ArrayRef<int64_t> shape, Type element) {
  if (found.getElementType() == element && agree(found.getShape(), shape))
    return success();
  return op->emitOpError("expects ")
         << name << " like " << RankedTensorType::get(shape, element) << ", got " << found;
}

//===-- Choice and order ---------------------------------------------------------------------===//

static LogicalResult verifyGroups(TopKOp op) {
  int64_t width = op.getInput().getType().getShape().back(), groups = op.getGroups();
  int64_t count = op.getValues().getType().getShape().back();
  if (groups < 1 || groups > TopKOp::kMostGroups || width % groups != 0) // C4
    return op.emitOpError("expects 1 to ")
           << TopKOp::kMostGroups << " groups that divide " << width << ", got " << groups;
  int64_t each = width / groups, chosen = op.getChosenGroups(), top = op.getGroupTop();
  if (chosen < 1 || chosen > groups || chosen * each < count) // C4
    return op.emitOpError("expects at most ")
           << groups << " chosen groups that have " << count << " elements, got " << chosen;
  if (top < 1 || top > each) // C4
    return op.emitOpError("expects sums of 1 to ") << each << " elements of a group, got " << top;
  return success();
}

LogicalResult TopKOp::verify() {
  RankedTensorType input = getInput().getType(), values = getValues().getType(),
                   indices = getIndices().getType();
  if (input.getRank() < 1 || input.isDynamicDim(input.getRank() - 1)) // C1
    return emitOpError("expects a static last axis, got ") << input;
  int64_t most = input.getShape().back();
  if (values.getRank() != input.getRank() || values.isDynamicDim(values.getRank() - 1) ||
      values.getShape().back() < 1 || values.getShape().back() > most) // C1
    return emitOpError("expects 1 to ") << most << " values of each row, got " << values;
  if (getBias() && !agree(getBias().getType().getDimSize(0), most)) // C3
    return emitOpError("expects a bias of ") << most << " elements, got " << getBias().getType();
  if (failed(verifyGroups(*this))) // C4
    return failure();
  SmallVector<int64_t> shape = withLast(input.getShape(), values.getShape().back());
  if (failed(verifyShape(*this, "values", values, shape, input.getElementType()))) // C2
    return failure();
  return verifyShape(*this, "indices", indices, shape, IntegerType::get(getContext(), 64)); // C2
}

void TopKOp::getAsmResultNames(OpAsmSetValueNameFn name) {
  name(getValues(), "values");
  name(getIndices(), "indices");
}

LogicalResult EqualOffsetsOp::verify() {
  RankedTensorType offsets = getOffsets().getType();
  if (offsets.getRank() == 1 && offsets.hasStaticShape() && offsets.getDimSize(0) > 1) // C1
    return success();
  return emitOpError("expects a static number of offsets, two or more, got ") << offsets;
}

LogicalResult DispatchOp::verify() {
  RankedTensorType experts = getExperts().getType(), offsets = getOffsets().getType();
  if (experts.getRank() < 1 || experts.isDynamicDim(experts.getRank() - 1)) // C1
    return emitOpError("expects a static last axis, got ") << experts;
  if (offsets.getRank() != 1 || !offsets.hasStaticShape() || offsets.getDimSize(0) < 2) // C2
    return emitOpError("expects a static number of offsets, two or more, got ") << offsets;
  return success();
}

void DispatchOp::getAsmResultNames(OpAsmSetValueNameFn name) {
  name(getTokens(), "tokens");
  name(getPlaces(), "places");
  name(getOffsets(), "offsets");
}

ParseResult DispatchOp::parse(OpAsmParser &parser, OperationState &result) {
  OpAsmParser::UnresolvedOperand experts;
  RankedTensorType type, offsets;
  if (parser.parseOperand(experts) || parser.parseOptionalAttrDict(result.attributes) ||
      parser.parseColonType(type) || parser.parseArrow() || parser.parseType(offsets) ||
      parser.resolveOperand(experts, type, result.operands))
    return failure();
  result.addTypes({type, type, offsets});
  return success();
}

void DispatchOp::print(OpAsmPrinter &printer) {
  printer << ' ' << getExperts();
  printer.printOptionalAttrDict((*this)->getAttrs());
  printer << " : " << getExperts().getType() << " -> " << getOffsets().getType();
}

//===-- Rows by numbers ----------------------------------------------------------------------===//

LogicalResult GatherRowsOp::verify() {
  RankedTensorType input = getInput().getType();
  if (failed(verifyRows(*this, input))) // C1
    return failure();
  SmallVector<int64_t> shape(getRows().getType().getShape());
  shape.push_back(input.getShape().back());
  return verifyShape(*this, "a result", getResult().getType(), shape,
                     input.getElementType()); // C2
}

LogicalResult CombineOp::verify() {
  RankedTensorType input = getInput().getType(), rows = getRows().getType();
  if (failed(verifyRows(*this, input))) // C1
    return failure();
  if (rows.getRank() < 1 || rows.isDynamicDim(rows.getRank() - 1) || rows.getShape().back() < 1)
    return emitOpError("expects a static number of rows for each sum, got ") << rows; // C2
  if (failed(verifyShape(*this, "weights", getWeights().getType(), rows.getShape(),
                         input.getElementType()))) // C2
    return failure();
  return verifyShape(*this, "a result", getResult().getType(),
                     withLast(rows.getShape(), input.getShape().back()),
                     input.getElementType()); // C3
}

void CombineOp::requireSizes(function_ref<void(SizeRule)> require) {
  for (int64_t axis = 0; axis < getRows().getType().getRank(); ++axis)
    require({getWeights(), axis, getRows(), axis}); // C2
}

/// The number of rows of a tensor; none where it is open.
static IntegerRole getRole(RankedTensorType input) {
  ArrayRef<int64_t> rows = input.getShape().drop_back();
  if (ShapedType::isDynamicShape(rows))
    return {IntegerRole::Any};
  return {IntegerRole::Row, ShapedType::getNumElements(rows)};
}

IntegerRole GatherRowsOp::getIntegerRole(OpOperand &) { return getRole(getInput().getType()); }
IntegerRole CombineOp::getIntegerRole(OpOperand &) { return getRole(getInput().getType()); }

TileNeeds GatherRowsOp::getTileNeeds() { return {TileNeeds::Table, getLeadingAxes(getResult())}; }

bool GatherRowsOp::visitTileOperands(TileVisitor &visitor) {
  return visitor.getDomain().kind == TileKind::Rows &&
         visitor.visit(getInput(), TileRole::Matrix) && visitor.visit(getRows(), TileRole::Ids);
}

TileNeeds CombineOp::getTileNeeds() { return {TileNeeds::Table, getLeadingAxes(getResult())}; }

bool CombineOp::visitTileOperands(TileVisitor &visitor) {
  return visitor.getDomain().kind == TileKind::Rows &&
         visitor.visit(getInput(), TileRole::Matrix) &&
         visitor.visit(getRows(), TileRole::RowsOfIds) &&
         visitor.visit(getWeights(), TileRole::RowBuffer);
}
