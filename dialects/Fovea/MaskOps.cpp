// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Masks: verifiers, folds, and the predicate of each (MaskOpInterface (b)). The intervals are in
// MaskIntervals.cpp, rewrites of several masks in Canonicalize.cpp.
#include "dialects/Fovea/FoveaDialect.h"
#include "mlir/Dialect/Tensor/IR/Tensor.h"
#include "mlir/IR/Builders.h"

using namespace mlir;
using namespace mlir::fovea;

//===-- Verifiers ----------------------------------------------------------------------------===//

LogicalResult MaskWindowOp::verify() {
  if (!getLeft() && !getRight()) // C1
    return emitOpError("expects a bound on the left, on the right, or both");
  int64_t left = getLeft().value_or(0), right = getRight().value_or(0);
  if (getLeft() && getRight() && -left > right) // C2
    return emitOpError("expects -left <= right, got left ") << left << " and right " << right;
  return success();
}

LogicalResult MaskSegmentOp::verify() {
  int64_t query = cast<RankedTensorType>(getQuerySegments().getType()).getDimSize(0);
  int64_t key = cast<RankedTensorType>(getKeySegments().getType()).getDimSize(0);
  if (!ShapedType::isDynamic(query) && !ShapedType::isDynamic(key) && query != key) // C1
    return emitOpError("expects query and key segments of one batch size, got ")
           << query << " and " << key;
  return success();
}

LogicalResult MaskGlobalOp::verify() {
  if (static_cast<int64_t>(getTokens()) <= 0) // C1
    return emitOpError("expects a positive number of tokens, got ")
           << static_cast<int64_t>(getTokens());
  return success();
}

LogicalResult MaskMaterializeOp::verify() {
  auto type = cast<RankedTensorType>(getResult().getType());
  if (static_cast<int64_t>(getSizes().size()) !=
      static_cast<int64_t>(type.getNumDynamicDims())) // C1
    return emitOpError("expects ")
           << type.getNumDynamicDims() << " sizes, got " << getSizes().size();
  return success();
}

LogicalResult MaskMaterializeOp::reifyResultShapes(OpBuilder &builder,
                                                   ReifiedRankedShapedTypeDims &shapes) {
  auto type = cast<RankedTensorType>(getResult().getType());
  SmallVector<OpFoldResult> &shape = shapes.emplace_back();
  unsigned next = 0;
  for (int64_t size : type.getShape())
    shape.push_back(ShapedType::isDynamic(size) ? OpFoldResult(getSizes()[next++])
                                                : builder.getIndexAttr(size));
  return success();
}

//===-- Folds --------------------------------------------------------------------------------===//

OpFoldResult MaskAndOp::fold(FoldAdaptor) {
  return getMasks().size() == 1 ? OpFoldResult(getMasks().front()) : OpFoldResult();
}

OpFoldResult MaskOrOp::fold(FoldAdaptor) {
  return getMasks().size() == 1 ? OpFoldResult(getMasks().front()) : OpFoldResult();
}

OpFoldResult MaskNotOp::fold(FoldAdaptor) {
  if (auto inner = getMask().getDefiningOp<MaskNotOp>())
    return inner.getMask();
  return {};
}

//===-- Predicates ---------------------------------------------------------------------------===//

static Value compare(OpBuilder &b, Location loc, arith::CmpIPredicate how, Value l, Value r) {
  return arith::CmpIOp::create(b, loc, how, l, r);
}

static Value constantI32(OpBuilder &b, Location loc, int64_t value) {
  return arith::ConstantIntOp::create(b, loc, value, 32);
}

static Value constantBool(OpBuilder &b, Location loc, bool value) {
  return arith::ConstantIntOp::create(b, loc, value, 1);
}

/// `offset + position`, computed in 64 bits so that no bound of 32 bits wraps.
static Value plus64(OpBuilder &b, Location loc, Value position, int64_t offset) {
  Type i64 = b.getI64Type();
  Value wide = arith::ExtSIOp::create(b, loc, i64, position);
  return arith::AddIOp::create(b, loc, wide, arith::ConstantIntOp::create(b, loc, offset, 64));
}

static Value lengthOf(OpBuilder &b, Location loc, Value lengths, Value batch) {
  bool shared = cast<RankedTensorType>(lengths.getType()).getDimSize(0) == 1;
  Value row = shared ? Value(arith::ConstantIndexOp::create(b, loc, 0)) : batch;
  return tensor::ExtractOp::create(b, loc, lengths, row);
}

Value MaskCausalOp::buildPredicate(OpBuilder &b, Location loc, const MaskPoint &p) {
  return compare(b, loc, arith::CmpIPredicate::sle, p.keyPosition, p.queryPosition);
}

Value MaskWindowOp::buildPredicate(OpBuilder &b, Location loc, const MaskPoint &p) {
  Value key = plus64(b, loc, p.keyPosition, 0), result;
  if (getLeft())
    result = compare(b, loc, arith::CmpIPredicate::sle,
                     plus64(b, loc, p.queryPosition, -static_cast<int64_t>(*getLeft())), key);
  if (getRight()) {
    Value right = compare(b, loc, arith::CmpIPredicate::sle, key,
                          plus64(b, loc, p.queryPosition, *getRight()));
    result = result ? Value(arith::AndIOp::create(b, loc, result, right)) : right;
  }
  return result;
}

Value MaskLengthOp::buildPredicate(OpBuilder &b, Location loc, const MaskPoint &p) {
  return compare(b, loc, arith::CmpIPredicate::slt, p.keyPosition,
                 lengthOf(b, loc, getLengths(), p.batch));
}

Value MaskPrefixOp::buildPredicate(OpBuilder &b, Location loc, const MaskPoint &p) {
  Value causal = compare(b, loc, arith::CmpIPredicate::sle, p.keyPosition, p.queryPosition);
  Value prefix = compare(b, loc, arith::CmpIPredicate::slt, p.keyPosition,
                         lengthOf(b, loc, getLengths(), p.batch));
  return arith::OrIOp::create(b, loc, causal, prefix);
}

Value MaskSegmentOp::buildPredicate(OpBuilder &b, Location loc, const MaskPoint &p) {
  auto segment = [&](Value segments, Value place) -> Value {
    bool shared = cast<RankedTensorType>(segments.getType()).getDimSize(0) == 1;
    Value row = shared ? Value(arith::ConstantIndexOp::create(b, loc, 0)) : p.batch;
    return tensor::ExtractOp::create(b, loc, segments, ValueRange{row, place});
  };
  return compare(b, loc, arith::CmpIPredicate::eq, segment(getQuerySegments(), p.query),
                 segment(getKeySegments(), p.key));
}

Value MaskGlobalOp::buildPredicate(OpBuilder &b, Location loc, const MaskPoint &p) {
  Value tokens = constantI32(b, loc, getTokens());
  Value query = compare(b, loc, arith::CmpIPredicate::slt, p.queryPosition, tokens);
  Value key = compare(b, loc, arith::CmpIPredicate::slt, p.keyPosition, tokens);
  return arith::OrIOp::create(b, loc, query, key);
}

Value MaskDenseOp::buildPredicate(OpBuilder &b, Location loc, const MaskPoint &p) {
  auto type = cast<RankedTensorType>(getMask().getType());
  SmallVector<Value> places{p.batch, p.head, p.query, p.key}, indices;
  Value zero = arith::ConstantIndexOp::create(b, loc, 0);
  for (int64_t axis = 0; axis < type.getRank(); ++axis) {
    Value place = places[4 - type.getRank() + axis];
    if (type.getDimSize(axis) == 1)
      place = zero;
    else if (type.isDynamicDim(axis)) {
      // An axis of dynamic size may turn out to be of size one, and then counts for all.
      Value size = tensor::DimOp::create(b, loc, getMask(), axis);
      Value last = arith::SubIOp::create(b, loc, size, arith::ConstantIndexOp::create(b, loc, 1));
      place = arith::MinUIOp::create(b, loc, place, last);
    }
    indices.push_back(place);
  }
  Value element = tensor::ExtractOp::create(b, loc, getMask(), indices);
  if (type.getElementType().isInteger(1))
    return element;
  Value none = arith::ConstantOp::create(b, loc, b.getZeroAttr(type.getElementType()));
  return compare(b, loc, arith::CmpIPredicate::ne, element, none);
}

Value MaskAndOp::buildPredicate(OpBuilder &b, Location loc, const MaskPoint &p) {
  Value result;
  for (Value mask : getMasks()) {
    Value next = fovea::buildPredicate(b, loc, mask, p);
    result = result ? Value(arith::AndIOp::create(b, loc, result, next)) : next;
  }
  return result ? result : constantBool(b, loc, true);
}

Value MaskOrOp::buildPredicate(OpBuilder &b, Location loc, const MaskPoint &p) {
  Value result;
  for (Value mask : getMasks()) {
    Value next = fovea::buildPredicate(b, loc, mask, p);
    result = result ? Value(arith::OrIOp::create(b, loc, result, next)) : next;
  }
  return result ? result : constantBool(b, loc, false);
}

Value MaskNotOp::buildPredicate(OpBuilder &b, Location loc, const MaskPoint &p) {
  return arith::XOrIOp::create(b, loc, fovea::buildPredicate(b, loc, getMask(), p),
                               constantBool(b, loc, true));
}

Value mlir::fovea::buildPredicate(OpBuilder &b, Location loc, Value mask, const MaskPoint &p) {
  if (!mask)
    return constantBool(b, loc, true);
  return cast<MaskOpInterface>(mask.getDefiningOp()).buildPredicate(b, loc, p);
}
