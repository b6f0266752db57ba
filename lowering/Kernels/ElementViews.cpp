// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// See Elements.h. Elements of tensors whose ops only move elements: each is the element of an
// operand at another place, and where operands meet a branch says of which. Refuses insertions with
// strides that are open or not positive.
#include "lowering/Kernels/Elements.h"
#include "mlir/Dialect/Arith/IR/Arith.h"

using namespace mlir;
using namespace mlir::fovea;

Value ElementReader::either(Value condition, Type element, function_ref<Value()> then,
                            function_ref<Value()> otherwise) {
  return k
      .branch(
          condition, {element}, [&] { return SmallVector<Value>{then()}; },
          [&] { return SmallVector<Value>{otherwise()}; })
      .front();
}

Value ElementReader::readExtractSlice(tensor::ExtractSliceOp slice, ValueRange at) {
  SmallVector<Value> offsets = valuesOf(slice.getMixedOffsets()),
                     strides = valuesOf(slice.getMixedStrides()), places;
  llvm::SmallBitVector dropped = slice.getDroppedDims();
  unsigned next = 0;
  for (auto [axis, offset] : llvm::enumerate(offsets))
    places.push_back(dropped.test(axis) ? offset : k.add(offset, k.mul(at[next++], strides[axis])));
  return read(slice.getSource(), places);
}

Value ElementReader::readConcat(tensor::ConcatOp concat, ValueRange at) {
  int64_t dim = concat.getDim();
  Type element = concat.getResultType().getElementType();
  std::function<Value(size_t, Value)> from = [&](size_t number, Value index) -> Value {
    Value input = concat.getInputs()[number];
    SmallVector<Value> places(at);
    places[dim] = index;
    if (number + 1 == concat.getInputs().size())
      return read(input, places);
    Value extent = size(input, dim);
    return either(
        k.less(index, extent), element, [&] { return read(input, places); },
        [&] { return from(number + 1, k.sub(index, extent)); });
  };
  return from(0, at[dim]);
}

Value ElementReader::readPad(tensor::PadOp pad, ValueRange at) {
  SmallVector<Value> low = valuesOf(pad.getMixedLowPad()), places;
  Value inside;
  for (auto [axis, index] : llvm::enumerate(at)) {
    places.push_back(k.sub(index, low[axis]));
    inside = both(inside, inRange(places.back(), size(pad.getSource(), axis)));
  }
  if (!inside)
    return read(pad.getSource(), places);
  return either(
      inside, pad.getResultType().getElementType(), [&] { return read(pad.getSource(), places); },
      [&] {
        IRMapping mapping;
        mapping.map(pad.getRegion().getArguments(), at);
        return emitBlock(pad.getRegion().front(), mapping, {}).front();
      });
}

Value ElementReader::readInsertSlice(tensor::InsertSliceOp insert, ValueRange at) {
  SmallVector<Value> offsets = valuesOf(insert.getMixedOffsets()),
                     counts = valuesOf(insert.getMixedSizes()),
                     strides = valuesOf(insert.getMixedStrides()), places;
  llvm::SmallBitVector dropped = insert.getDroppedDims();
  Value inside;
  auto also = [&](Value condition) { inside = both(inside, condition); };
  for (auto [axis, index] : llvm::enumerate(at)) {
    Value place = k.sub(index, offsets[axis]);
    std::optional<int64_t> stride =
        insert.isDynamicStride(axis) ? std::optional<int64_t>() : insert.getStaticStride(axis);
    if (stride != 1) {
      if (!stride || *stride <= 0) {
        fail(insert, "expects strides that are known and positive");
        return read(insert.getDest(), at);
      }
      Value rest = arith::RemUIOp::create(k, place, strides[axis]);
      // Below the first place the difference is a great unsigned number; the quotient is too great.
      also(arith::CmpIOp::create(k, arith::CmpIPredicate::eq, rest, k.index(0)));
      also(inRange(index, size(insert.getDest(), axis)));
      also(arith::CmpIOp::create(k, arith::CmpIPredicate::sge, place, k.index(0)));
      place = arith::DivUIOp::create(k, place, strides[axis]);
    }
    also(inRange(place, counts[axis]));
    if (!dropped.test(axis))
      places.push_back(place);
  }
  if (!inside)
    return read(insert.getSource(), places);
  return either(
      inside, insert.getType().getElementType(), [&] { return read(insert.getSource(), places); },
      [&] { return read(insert.getDest(), at); });
}

Value ElementReader::readExpanded(tensor::ExpandShapeOp expand, ValueRange at) {
  SmallVector<Value> shape = valuesOf(expand.getMixedOutputShape()), places;
  for (const ReassociationIndices &group : expand.getReassociationIndices()) {
    Value place = at[group.front()];
    for (int64_t inner : ArrayRef(group).drop_front())
      place = k.add(k.mul(place, shape[inner]), at[inner]);
    places.push_back(place);
  }
  return read(expand.getSrc(), places);
}

Value ElementReader::readCollapsed(tensor::CollapseShapeOp collapse, ValueRange at) {
  SmallVector<Value> shape = sizes(collapse.getSrc());
  SmallVector<Value> places(collapse.getSrcType().getRank());
  if (collapse.getReassociationIndices().empty())
    places.assign(places.size(), k.index(0));
  for (auto [axis, group] : llvm::enumerate(collapse.getReassociationIndices())) {
    Value rest = at[axis];
    for (int64_t inner : llvm::reverse(ArrayRef(group).drop_front())) {
      places[inner] = arith::RemUIOp::create(k, rest, shape[inner]);
      rest = arith::DivUIOp::create(k, rest, shape[inner]);
    }
    places[group.front()] = rest;
  }
  return read(collapse.getSrc(), places);
}
