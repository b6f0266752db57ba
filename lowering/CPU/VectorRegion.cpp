// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Values that are equal in all lanes stay scalars, so a predicate that depends on the key alone
// costs one comparison for a vector of queries; consecutive places in memory are loaded, others
// gathered.
#include "lowering/CPU/VectorRegion.h"
#include "mlir/IR/IRMapping.h"
#include "mlir/IR/OpDefinition.h"
#include <map>

using namespace mlir;
using namespace mlir::fovea;

Value mlir::fovea::getVector(Emitter &b, LaneValue &value, int64_t lanes) {
  if (value.vector)
    return value.vector;
  Value first = b.splat(value.scalar, lanes);
  if (value.kind == LaneValue::Uniform)
    return value.vector = first;
  Value numbers = b.iota(lanes);
  Type element = value.scalar.getType();
  auto type = VectorType::get(lanes, element);
  if (element.isIndex())
    numbers = arith::IndexCastOp::create(b, type, numbers);
  else if (!element.isInteger(32))
    numbers = arith::ExtSIOp::create(b, type, numbers);
  return value.vector = arith::AddIOp::create(b, first, numbers);
}

namespace {

class RegionVectorizer {
public:
  RegionVectorizer(Emitter &b, int64_t lanes) : b(b), lanes(lanes) {}
  LaneValue emit(Region &region, ArrayRef<LaneValue> arguments);

private:
  LaneValue &get(Value value);
  LaneValue emitOp(Operation &op);
  LaneValue emitLoad(memref::LoadOp op);
  LaneValue emitForEachLane(Operation &op);
  bool isUniform(Operation &op);

  Emitter &b;
  int64_t lanes;
  /// References to its values stay valid while others are added.
  std::map<const void *, LaneValue> values;
};

} // namespace

LaneValue &RegionVectorizer::get(Value value) {
  // What comes from outside is one value for all lanes.
  auto [place, isNew] = values.try_emplace(value.getAsOpaquePointer());
  if (isNew)
    place->second = LaneValue::uniform(value);
  return place->second;
}

bool RegionVectorizer::isUniform(Operation &op) {
  return llvm::all_of(op.getOperands(),
                      [&](Value operand) { return get(operand).kind == LaneValue::Uniform; });
}

LaneValue RegionVectorizer::emitLoad(memref::LoadOp op) {
  Value memory = get(op.getMemRef()).scalar; // perhaps named inside of the region
  MemRefType type = op.getMemRefType();
  // Lanes that the tile has none for may ask for any place: all are kept inside.
  auto last = [&](unsigned axis) {
    Value size = type.isDynamicDim(axis) ? Value(memref::DimOp::create(b, memory, b.index(axis)))
                                         : b.index(type.getDimSize(axis));
    return b.sub(size, b.index(1));
  };
  auto clamp = [&](Value index, unsigned axis) {
    return b.maximum(b.minimum(index, last(axis)), b.index(0));
  };
  SmallVector<LaneValue *> indices;
  bool uniform = true;
  for (Value index : op.getIndices()) {
    indices.push_back(&get(index));
    uniform &= indices.back()->kind == LaneValue::Uniform;
  }
  if (uniform) {
    SmallVector<Value> at;
    for (auto [axis, index] : llvm::enumerate(indices))
      at.push_back(clamp(index->scalar, axis));
    return LaneValue::uniform(memref::LoadOp::create(b, memory, at));
  }
  // One bit has a byte in memory and none in a vector.
  bool bits = type.getElementType().isInteger(1);
  auto vectorType = VectorType::get(lanes, type.getElementType());
  SmallVector<int64_t> strides;
  int64_t offset;
  bool consecutive = succeeded(type.getStridesAndOffset(strides, offset)) && !strides.empty() &&
                     strides.back() == 1 && indices.back()->kind == LaneValue::Linear && !bits;
  for (LaneValue *index : ArrayRef(indices).drop_back())
    consecutive &= index->kind == LaneValue::Uniform;
  if (consecutive) {
    SmallVector<Value> at;
    for (auto [axis, index] : llvm::enumerate(ArrayRef(indices).drop_back()))
      at.push_back(clamp(index->scalar, axis));
    unsigned axis = type.getRank() - 1;
    Value first = b.maximum(indices.back()->scalar, b.index(0));
    Value mask = b.lanesBelow(b.sub(b.add(last(axis), 1), first), lanes);
    at.push_back(first);
    return LaneValue::varying(
        vector::MaskedLoadOp::create(b, vectorType, memory, at, mask, b.zero(vectorType)));
  }
  SmallVector<SmallVector<Value>> at(lanes);
  for (auto [axis, index] : llvm::enumerate(indices)) {
    Value all = index->kind == LaneValue::Uniform ? Value() : getVector(b, *index, lanes);
    for (int64_t lane = 0; lane < lanes; ++lane)
      at[lane].push_back(
          clamp(all ? Value(vector::ExtractOp::create(b, all, lane)) : index->scalar, axis));
  }
  SmallVector<Value> elements;
  for (ArrayRef<Value> place : at)
    elements.push_back(memref::LoadOp::create(b, memory, place));
  return LaneValue::varying(vector::FromElementsOp::create(b, vectorType, elements));
}

LaneValue RegionVectorizer::emitForEachLane(Operation &op) {
  SmallVector<Value> elements;
  for (int64_t lane = 0; lane < lanes; ++lane) {
    IRMapping mapping;
    // Operands, and what the op's own regions use.
    auto map = [&](Value operand) {
      auto known = values.find(operand.getAsOpaquePointer());
      if (known == values.end() || mapping.contains(operand))
        return;
      LaneValue &value = known->second;
      mapping.map(operand,
                  value.kind == LaneValue::Uniform
                      ? value.scalar
                      : Value(vector::ExtractOp::create(b, getVector(b, value, lanes), lane)));
    };
    llvm::for_each(op.getOperands(), map);
    op.walk([&](Operation *inner) { llvm::for_each(inner->getOperands(), map); });
    elements.push_back(b.clone(op, mapping)->getResult(0));
  }
  auto type = VectorType::get(lanes, op.getResult(0).getType());
  return LaneValue::varying(vector::FromElementsOp::create(b, type, elements));
}

LaneValue RegionVectorizer::emitOp(Operation &op) {
  if (auto load = dyn_cast<memref::LoadOp>(op))
    return emitLoad(load);
  if (op.getNumRegions() != 0)
    return emitForEachLane(op);
  if (isUniform(op)) {
    IRMapping mapping;
    for (Value operand : op.getOperands())
      mapping.map(operand, get(operand).scalar);
    return LaneValue::uniform(b.clone(op, mapping)->getResult(0));
  }
  // Consecutive numbers stay so under casts and shifts by what is equal in all lanes.
  if (isa<arith::IndexCastOp>(op) && get(op.getOperand(0)).kind == LaneValue::Linear)
    return LaneValue::linear(
        arith::IndexCastOp::create(b, op.getResult(0).getType(), get(op.getOperand(0)).scalar));
  if (isa<arith::AddIOp, arith::SubIOp>(op)) {
    LaneValue &l = get(op.getOperand(0)), &r = get(op.getOperand(1));
    bool sum = isa<arith::AddIOp>(op);
    if ((l.kind == LaneValue::Linear && r.kind == LaneValue::Uniform) ||
        (sum && l.kind == LaneValue::Uniform && r.kind == LaneValue::Linear))
      return LaneValue::linear(sum ? Value(arith::AddIOp::create(b, l.scalar, r.scalar))
                                   : Value(arith::SubIOp::create(b, l.scalar, r.scalar)));
  }
  if (!OpTrait::hasElementwiseMappableTraits(&op) || op.getNumResults() != 1)
    return emitForEachLane(op);
  OperationState state(op.getLoc(), op.getName());
  for (Value operand : op.getOperands())
    state.addOperands(getVector(b, get(operand), lanes));
  state.addTypes(VectorType::get(lanes, op.getResult(0).getType()));
  state.addAttributes(op.getAttrs());
  return LaneValue::varying(b.create(state)->getResult(0));
}

LaneValue RegionVectorizer::emit(Region &region, ArrayRef<LaneValue> arguments) {
  Block &block = region.front();
  for (auto [argument, value] : llvm::zip(block.getArguments(), arguments))
    values[argument.getAsOpaquePointer()] = value;
  for (Operation &op : block.without_terminator()) {
    if (op.getNumResults() != 1)
      continue; // nothing that a pure op could be for
    LaneValue result = emitOp(op);
    values[op.getResult(0).getAsOpaquePointer()] = result;
  }
  return get(block.getTerminator()->getOperand(0));
}

LaneValue mlir::fovea::emitRegion(Emitter &b, Region &region, ArrayRef<LaneValue> arguments,
                                  int64_t lanes) {
  return RegionVectorizer(b, lanes).emit(region, arguments);
}
