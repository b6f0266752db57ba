// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Slices and reshapes of an entry's tensors as views of their memory; what cannot be seen in place
// is copied without gaps first.
#include "lowering/Entries/EntryConversion.h"
#include "llvm/ADT/TypeSwitch.h"

using namespace mlir;
using namespace mlir::fovea;

/// The product of some sizes: a number, or a value of the plan.
OpFoldResult EntryConversion::multiply(Location loc, ArrayRef<OpFoldResult> sizes,
                                       ArrayRef<int64_t> axes) {
  int64_t known = 1;
  Value product;
  for (int64_t axis : axes) {
    if (std::optional<int64_t> size = getConstantIntValue(sizes[axis])) {
      known *= *size;
      continue;
    }
    Value size = cast<Value>(sizes[axis]);
    product = product ? Value(arith::MulIOp::create(math, loc, product, size)) : size;
  }
  if (!product)
    return math.getIndexAttr(known);
  if (known == 1)
    return product;
  return arith::MulIOp::create(math, loc, product, toValue(loc, math.getIndexAttr(known)))
      .getResult();
}

void EntryConversion::launchCopy(Location loc, Value source, Value target) {
  func::FuncOp kernel =
      kernels.getCopy(loc, cast<MemRefType>(source.getType()), cast<MemRefType>(target.getType()));
  LaunchOp::create(body, loc, kernel.getSymName(), source, target, ValueRange());
  ++launches;
}

/// The operand of a view, of another layout in memory, as a copy without gaps.
Value EntryConversion::copyDense(Operation *view, const Buffer &source) {
  auto type = cast<MemRefType>(source.memory.getType());
  Value copy = allocateFor(view->getResult(0), view,
                           MemRefType::get(type.getShape(), type.getElementType()), source.sizes);
  launchCopy(view->getLoc(), source.memory, copy);
  return copy;
}

/// Whether a group of axes has more than one open size. Upstream's lowering of reshapes knows none
/// with such groups.
static bool isOpen(ArrayRef<int64_t> shape, ArrayRef<ReassociationIndices> groups) {
  return llvm::any_of(groups, [&](const ReassociationIndices &group) {
    return llvm::count_if(group, [&](int64_t axis) { return ShapedType::isDynamic(shape[axis]); }) >
           1;
  });
}

/// Memory without gaps under another shape.
Value EntryConversion::reshapeDense(Location loc, Value memory, ArrayRef<int64_t> shape,
                                    ArrayRef<OpFoldResult> sizes) {
  auto type = MemRefType::get(shape, cast<MemRefType>(memory.getType()).getElementType());
  SmallVector<OpFoldResult> extents(sizes), strides(sizes.size(), math.getIndexAttr(1));
  SmallVector<int64_t> inner;
  for (int64_t axis = shape.size() - 1; axis >= 0; --axis) {
    bool isKnown = llvm::none_of(ArrayRef(shape).drop_front(axis + 1), ShapedType::isDynamic);
    strides[axis] = multiply(loc, sizes, inner);
    if (!isKnown)
      strides[axis] = toValue(loc, strides[axis]);
    inner.push_back(axis);
    if (ShapedType::isDynamic(shape[axis]))
      extents[axis] = toValue(loc, extents[axis]);
  }
  return memref::ReinterpretCastOp::create(body, loc, type, memory, math.getIndexAttr(0), extents,
                                           strides);
}

Buffer EntryConversion::viewSlice(tensor::ExtractSliceOp slice, const Buffer &source) {
  Location loc = slice.getLoc();
  SmallVector<OpFoldResult> offsets = map(slice.getMixedOffsets()),
                            sizes = map(slice.getMixedSizes()),
                            strides = map(slice.getMixedStrides());
  for (auto [axis, size] : llvm::enumerate(sizes))
    checks.requireInside(loc, offsets[axis], size, strides[axis], source.sizes[axis]);
  // The type follows the tensor's: a size that happens to be constant may be dynamic there.
  auto type = memref::SubViewOp::inferRankReducedResultType(
      slice.getType().getShape(), cast<MemRefType>(source.memory.getType()),
      slice.getMixedOffsets(), slice.getMixedSizes(), slice.getMixedStrides());
  auto keepDynamic = [&](SmallVector<OpFoldResult> values, ArrayRef<int64_t> statics) {
    for (auto [value, fixed] : llvm::zip(values, statics))
      if (ShapedType::isDynamic(fixed))
        value = toValue(loc, value);
    return values;
  };
  Buffer result;
  result.memory = memref::SubViewOp::create(body, loc, cast<MemRefType>(type), source.memory,
                                            keepDynamic(offsets, slice.getStaticOffsets()),
                                            keepDynamic(sizes, slice.getStaticSizes()),
                                            keepDynamic(strides, slice.getStaticStrides()));
  llvm::SmallBitVector dropped = slice.getDroppedDims();
  for (auto [axis, size] : llvm::enumerate(sizes))
    if (!dropped.test(axis))
      result.sizes.push_back(size);
  return result;
}

FailureOr<Buffer> EntryConversion::viewExpanded(tensor::ExpandShapeOp expand, Buffer source) {
  Location loc = expand.getLoc();
  auto sourceType = cast<MemRefType>(source.memory.getType());
  ArrayRef<int64_t> resultShape = expand.getResultType().getShape();
  SmallVector<OpFoldResult> shape = map(
      getMixedValues(expand.getStaticOutputShape(), expand.getOutputShape(), body.getContext()));
  Buffer result;
  result.sizes = shape;
  for (auto [axis, group] : llvm::enumerate(expand.getReassociationIndices()))
    checks.requireEqual(loc, multiply(loc, ArrayRef(shape), group), source.sizes[axis]);
  for (auto [size, fixed] : llvm::zip(shape, expand.getStaticOutputShape()))
    if (ShapedType::isDynamic(fixed))
      size = toValue(loc, size);
  if (isOpen(resultShape, expand.getReassociationIndices())) {
    if (!sourceType.getLayout().isIdentity())
      source.memory = copyDense(expand, source);
    result.memory = reshapeDense(loc, source.memory, resultShape, result.sizes);
    return result;
  }
  FailureOr<MemRefType> type = memref::ExpandShapeOp::computeExpandedType(
      sourceType, resultShape, expand.getReassociationIndices());
  if (failed(type))
    return expand.emitOpError("cannot split the axes of ") << sourceType;
  result.memory = memref::ExpandShapeOp::create(body, loc, *type, source.memory,
                                                expand.getReassociationIndices(), shape);
  return result;
}

Buffer EntryConversion::viewCollapsed(tensor::CollapseShapeOp collapse, Buffer source) {
  Location loc = collapse.getLoc();
  auto sourceType = cast<MemRefType>(source.memory.getType());
  RankedTensorType resultType = collapse.getResultType();
  SmallVector<ReassociationIndices> groups = collapse.getReassociationIndices();
  bool open = isOpen(sourceType.getShape(), groups);
  if (!memref::CollapseShapeOp::isGuaranteedCollapsible(sourceType, groups) ||
      (open && !sourceType.getLayout().isIdentity()))
    source.memory = copyDense(collapse, source);
  Buffer result;
  for (auto [axis, group] : llvm::enumerate(groups))
    result.sizes.push_back(resultType.isDynamicDim(axis)
                               ? multiply(loc, source.sizes, group)
                               : OpFoldResult(math.getIndexAttr(resultType.getDimSize(axis))));
  result.memory =
      open ? reshapeDense(loc, source.memory, resultType.getShape(), result.sizes)
           : memref::CollapseShapeOp::create(body, loc, source.memory, groups).getResult();
  return result;
}

Buffer EntryConversion::viewCast(Operation *op, const Buffer &source) {
  Location loc = op->getLoc();
  auto resultType = cast<RankedTensorType>(op->getResult(0).getType());
  auto type = MemRefType::get(resultType.getShape(), resultType.getElementType(),
                              cast<MemRefType>(source.memory.getType()).getLayout());
  Buffer result;
  result.memory = memref::CastOp::create(body, loc, type, source.memory);
  result.sizes = source.sizes;
  for (auto [axis, size] : llvm::enumerate(result.sizes))
    if (!resultType.isDynamicDim(axis)) {
      OpFoldResult fixed = math.getIndexAttr(resultType.getDimSize(axis));
      checks.requireEqual(loc, size, fixed);
      size = fixed;
    }
  return result;
}

LogicalResult EntryConversion::convertView(Operation *op) {
  auto found = buffers.find(op->getOperand(0));
  if (found == buffers.end())
    return op->emitOpError("expects a tensor of this entry");
  Buffer source = found->second;
  FailureOr<Buffer> result =
      llvm::TypeSwitch<Operation *, FailureOr<Buffer>>(op)
          .Case([&](tensor::ExtractSliceOp slice) { return viewSlice(slice, source); })
          .Case([&](tensor::ExpandShapeOp expand) { return viewExpanded(expand, source); })
          .Case([&](tensor::CollapseShapeOp collapse) { return viewCollapsed(collapse, source); })
          .Default([&](Operation *cast) { return viewCast(cast, source); });
  if (failed(result))
    return failure();
  buffers[op->getResult(0)] = *result;
  return success();
}
