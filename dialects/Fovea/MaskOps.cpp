// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Masks: verifiers, folds, and the predicate of each (MaskOpInterface (b)). The intervals are in
// MaskIntervals.cpp, rewrites of several masks in Canonicalize.cpp.
#include "dialects/Fovea/FoveaDialect.h"
#include "mlir/Dialect/Tensor/IR/Tensor.h"
#include "mlir/IR/Builders.h"
#include "llvm/ADT/SmallPtrSet.h"
#include <limits>

using namespace mlir;
using namespace mlir::fovea;

//===-- Verifiers ----------------------------------------------------------------------------===//

/// Whether an axis of size `given` counts for one of size `wanted`: it has that size, or is one for
/// all.
static bool fits(int64_t given, int64_t wanted) { return given == 1 || agree(given, wanted); }

/// Calls `body` for each tensor of a mask's ops with the axes of (batch, heads, queries, keys) that
/// its own are; of those, the first may be one for all, or any if `anyShared`.
static void forEachMaskTensor(
    Value mask,
    function_ref<void(Operation *, Value tensor, ArrayRef<unsigned> axes, bool anyShared)> body) {
  SmallVector<Value> open{mask};
  llvm::SmallPtrSet<Operation *, 8> seen;
  while (!open.empty()) {
    Operation *op = open.pop_back_val().getDefiningOp();
    if (!op || !seen.insert(op).second)
      continue;
    if (isa<MaskAndOp, MaskOrOp, MaskNotOp>(op)) {
      open.append(op->operand_begin(), op->operand_end());
    } else if (isa<MaskLengthOp, MaskPrefixOp>(op)) {
      body(op, op->getOperand(0), {0}, false);
    } else if (auto segment = dyn_cast<MaskSegmentOp>(op)) {
      body(op, segment.getQuerySegments(), {0, 2}, false);
      body(op, segment.getKeySegments(), {0, 3}, false);
    } else if (auto dense = dyn_cast<MaskDenseOp>(op)) {
      constexpr unsigned kAxes[] = {0, 1, 2, 3};
      int64_t rank = cast<RankedTensorType>(dense.getMask().getType()).getRank();
      body(op, dense.getMask(), ArrayRef(kAxes).take_back(rank), true);
    }
  }
}

LogicalResult mlir::fovea::verifyMask(Operation *user, Value mask, ArrayRef<int64_t> sizes) {
  LogicalResult result = success();
  forEachMaskTensor(
      mask, [&](Operation *op, Value tensor, ArrayRef<unsigned> axes, bool anyShared) {
        auto type = cast<RankedTensorType>(tensor.getType());
        SmallVector<int64_t> wanted =
            llvm::map_to_vector(axes, [&](unsigned axis) { return sizes[axis]; });
        for (int64_t axis = 0; axis < type.getRank() && succeeded(result); ++axis)
          if (axis == 0 || anyShared ? !fits(type.getDimSize(axis), wanted[axis])
                                     : !agree(type.getDimSize(axis), wanted[axis]))
            result = user->emitOpError("expects the mask's '")
                     << op->getName() << "' to take "
                     << RankedTensorType::get(wanted, type.getElementType()) << ", got " << type;
      });
  return result;
}

void mlir::fovea::requireMaskSizes(Value mask, ArrayRef<std::pair<Value, int64_t>> sizes,
                                   function_ref<void(SizeRule)> require) {
  forEachMaskTensor(mask, [&](Operation *, Value tensor, ArrayRef<unsigned> axes, bool anyShared) {
    for (auto [axis, of] : llvm::enumerate(axes))
      if (sizes[of].first)
        require({tensor, int64_t(axis), sizes[of].first, sizes[of].second, axis == 0 || anyShared});
  });
}

LogicalResult MaskWindowOp::verify() {
  if (!getLeft() && !getRight()) // C1
    return emitOpError("expects a bound on the left, on the right, or both");
  int64_t left = getLeft().value_or(0), right = getRight().value_or(0);
  // No two positions, of 32 bits each, are farther apart.
  constexpr int64_t kFarthest = int64_t(1) << 32;
  for (int64_t bound : {left, right})
    if (bound < -kFarthest || bound > kFarthest) // C3
      return emitOpError("expects bounds between ")
             << -kFarthest << " and " << kFarthest << ", got " << bound;
  if (getLeft() && getRight() && -left > right) // C2
    return emitOpError("expects -left <= right, got left ") << left << " and right " << right;
  return success();
}

LogicalResult MaskSegmentOp::verify() {
  int64_t query = cast<RankedTensorType>(getQuerySegments().getType()).getDimSize(0);
  int64_t key = cast<RankedTensorType>(getKeySegments().getType()).getDimSize(0);
  if (query != 1 && key != 1 && !agree(query, key)) // C1
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
  for (auto [positions, name, axis] :
       {std::tuple<Value, StringRef, int64_t>(getQueryPositions(), "query positions", 2),
        {getKeyPositions(), "key positions", 3}}) {
    if (!positions)
      continue;
    auto given = cast<RankedTensorType>(positions.getType());
    if (!fits(given.getDimSize(0), type.getDimSize(0)) ||
        !agree(given.getDimSize(1), type.getDimSize(axis))) // C2
      return emitOpError("expects ") << name << " for " << type << ", got " << given;
  }
  return verifyMask(*this, getMask(), type.getShape()); // C3
}

void MaskMaterializeOp::requireSizes(function_ref<void(SizeRule)> require) {
  Value result = getResult();
  for (auto [positions, axis] :
       {std::pair<Value, int64_t>(getQueryPositions(), 2), {getKeyPositions(), 3}})
    if (positions) { // C2
      require({positions, 0, result, 0, /*orOne=*/isOneForAll(positions)});
      require({positions, 1, result, axis});
    }
  requireMaskSizes(getMask(), {{result, 0}, {result, 1}, {result, 2}, {result, 3}}, require); // C3
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

/// `place`, or 0 where the axis has size one and counts for all.
static Value placeOnAxis(OpBuilder &b, Location loc, Value tensor, int64_t axis, Value place) {
  auto type = cast<RankedTensorType>(tensor.getType());
  if (type.getDimSize(axis) == 1)
    return arith::ConstantIndexOp::create(b, loc, 0);
  if (!type.isDynamicDim(axis))
    return place;
  // The size is only known at run time: the last place is 0 if it is one.
  Value size = tensor::DimOp::create(b, loc, tensor, axis);
  Value last = arith::SubIOp::create(b, loc, size, arith::ConstantIndexOp::create(b, loc, 1));
  return arith::MinUIOp::create(b, loc, place, last);
}

Value mlir::fovea::getRowOfBatch(OpBuilder &b, Location loc, Value tensor, Value batch) {
  return placeOnAxis(b, loc, tensor, 0, batch);
}

static Value lengthOf(OpBuilder &b, Location loc, Value lengths, Value batch) {
  return tensor::ExtractOp::create(b, loc, lengths, getRowOfBatch(b, loc, lengths, batch));
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
    Value row = getRowOfBatch(b, loc, segments, p.batch);
    return tensor::ExtractOp::create(b, loc, segments, ValueRange{row, place});
  };
  return compare(b, loc, arith::CmpIPredicate::eq, segment(getQuerySegments(), p.query),
                 segment(getKeySegments(), p.key));
}

Value MaskGlobalOp::buildPredicate(OpBuilder &b, Location loc, const MaskPoint &p) {
  if (getTokens() > uint64_t(std::numeric_limits<int32_t>::max()))
    return constantBool(b, loc, true); // every position is below
  Value tokens = constantI32(b, loc, getTokens());
  Value query = compare(b, loc, arith::CmpIPredicate::slt, p.queryPosition, tokens);
  Value key = compare(b, loc, arith::CmpIPredicate::slt, p.keyPosition, tokens);
  return arith::OrIOp::create(b, loc, query, key);
}

Value MaskDenseOp::buildPredicate(OpBuilder &b, Location loc, const MaskPoint &p) {
  auto type = cast<RankedTensorType>(getMask().getType());
  SmallVector<Value> places{p.batch, p.head, p.query, p.key}, indices;
  for (int64_t axis = 0; axis < type.getRank(); ++axis)
    indices.push_back(placeOnAxis(b, loc, getMask(), axis, places[4 - type.getRank() + axis]));
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

//===-- Integers -----------------------------------------------------------------------------===//

IntegerRole MaskLengthOp::getIntegerRole(OpOperand &) { return {IntegerRole::Length}; }
IntegerRole MaskPrefixOp::getIntegerRole(OpOperand &) { return {IntegerRole::Length}; }
IntegerRole MaskSegmentOp::getIntegerRole(OpOperand &) { return {IntegerRole::Segment}; }
IntegerRole MaskMaterializeOp::getIntegerRole(OpOperand &) { return {IntegerRole::Position}; }
