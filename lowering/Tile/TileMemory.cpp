// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Strides, bounds and panels of what a tile program sees of memory. Constants stay constants, so
// that the lowering can prove what is inside.
#include "lowering/Tile/TileMemory.h"
#include "lowering/Tile/LoadPacked.h"
#include <numeric>

using namespace mlir;
using namespace mlir::fovea;
using namespace mlir::fovea::tile;

TileLayout::TileLayout(TileType type, int64_t vectorLanes) {
  axis = type.getSize(type.getLanes()) == 1 ? 1 - type.getLanes() : type.getLanes();
  inner = type.getSize(axis);
  outer = type.getSize(1 - axis);
  pitch = llvm::alignTo(inner, vectorLanes);
}

TileLayout TileLayout::turned(int64_t vectorLanes) const {
  TileLayout result = *this;
  result.axis = 1 - axis;
  std::swap(result.outer, result.inner);
  result.pitch = llvm::alignTo(result.inner, vectorLanes);
  return result;
}

Value ViewMemory::place(Emitter &b, const Value (&first)[2], int64_t axis, Value outer,
                        Value inner) const {
  if (panel == 0) // what loops do not change is computed before them
    return b.add(place(b, first[0], first[1]),
                 b.add(b.mul(outer, stride[1 - axis]), b.mul(inner, stride[axis])));
  Value at[2];
  at[axis] = b.add(first[axis], inner);
  at[1 - axis] = b.add(first[1 - axis], outer);
  return place(b, at[0], at[1]);
}

Value ViewMemory::load(Emitter &b, Value place) const {
  if (!isOfNibbles())
    return memref::LoadOp::create(b, flat, place);
  Value byte = memref::LoadOp::create(b, flat, b.div(place, 2));
  Value half = arith::IndexCastOp::create(b, b.getI8Type(), b.mul(b.rem(place, 2), 4));
  return arith::TruncIOp::create(b, type, arith::ShRUIOp::create(b, byte, half));
}

Value ViewMemory::load(Emitter &b, Value row, Value column) const {
  if (!liesInUnits())
    return load(b, place(b, row, column));
  Value at = b.add(b.mul(b.div(row, panel), panelStride), b.mul(b.rem(row, panel), wordSize()));
  auto loadByte = [&](Value word, Value byte) -> Value {
    Value place = b.add(at, b.add(b.mul(word, panel * wordSize()), byte));
    return memref::LoadOp::create(b, flat, place);
  };
  return loadPacked(b, {type.getIntOrFloatBitWidth()}, column, loadByte);
}

Value ViewMemory::inside(Emitter &b, Value first, int64_t size, int64_t axis) const {
  std::optional<int64_t> offset = getConstant(first), end = getConstant(extent[axis]);
  if (offset && end && *offset + size <= *end)
    return {};
  Value rest = b.maximum(b.sub(extent[axis], first), b.index(0));
  return b.minimum(rest, b.index(size));
}

Value ViewMemory::place(Emitter &b, Value row, Value column) const {
  assert(!liesInUnits() && "such elements have no places of their own");
  if (panel == 0)
    return b.add(base, b.add(b.mul(row, stride[0]), b.mul(column, stride[1])));
  Value at = b.add(b.mul(b.div(row, panel), panelStride), b.mul(b.rem(row, panel), interleave));
  Value k = interleave == 1 ? column : b.div(column, interleave);
  at = b.add(at, b.mul(k, panel * interleave));
  return interleave == 1 ? at : b.add(at, b.rem(column, interleave));
}

/// The buffer, from `begin` to the end of `memory`, as rank-1 memory. Bounds are kept elsewhere.
static Value flatten(Emitter &b, memref::ExtractStridedMetadataOp metadata, MemRefType type,
                     int64_t begin) {
  SmallVector<int64_t> strides;
  int64_t offset;
  bool known = succeeded(type.getStridesAndOffset(strides, offset)) && type.hasStaticShape() &&
               offset == 0 && llvm::none_of(strides, ShapedType::isDynamic);
  Value size = b.index(1);
  if (known)
    for (int64_t extent : type.getShape())
      size = b.mul(size, extent);
  else if (type.getRank() > 0)
    size = b.add(metadata.getOffset(), b.mul(metadata.getSizes()[0], metadata.getStrides()[0]));
  auto flat = MemRefType::get(ShapedType::kDynamic, type.getElementType());
  if (begin != 0)
    flat = MemRefType::get(ShapedType::kDynamic, type.getElementType(),
                           StridedLayoutAttr::get(b.getContext(), begin, {1}));
  return memref::ReinterpretCastOp::create(b, flat, metadata.getBaseBuffer(),
                                           OpFoldResult(b.getIndexAttr(begin)),
                                           ArrayRef<OpFoldResult>{OpFoldResult(size)},
                                           ArrayRef<OpFoldResult>{OpFoldResult(b.getIndexAttr(1))});
}

ViewMemory mlir::fovea::describeView(Emitter &b, Operation *op) {
  ViewMemory result;
  auto memory = cast<TypedValue<MemRefType>>(op->getOperand(0));
  MemRefType type = memory.getType();
  result.type = cast<ViewType>(op->getResult(0).getType()).getElementType();
  auto metadata = memref::ExtractStridedMetadataOp::create(b, memory);
  SmallVector<int64_t> strides;
  int64_t offset;
  (void)type.getStridesAndOffset(strides, offset);
  // A part of a panel begins where the first panel's does.
  bool isPart = isa<PackedOp>(op) && !ShapedType::isDynamic(offset);
  result.flat = flatten(b, metadata, type, isPart ? offset : 0);
  result.base = ShapedType::isDynamic(offset) ? Value(metadata.getOffset()) : b.index(offset);

  if (auto packed = dyn_cast<PackedOp>(op)) {
    result.panel = packed.getPanel();
    result.interleave = packed.getInterleave();
    result.panels = type.getDimSize(0);
    result.panelStride = b.index(strides[0] * (packed.isOfNibbles() ? 2 : 1));
    result.extent[0] = b.index(packed.getView().getType().getRows());
    result.extent[1] = b.index(packed.getView().getType().getColumns());
    return result;
  }
  auto view = cast<ViewOp>(op);
  auto stride = [&](int64_t axis) -> Value {
    return ShapedType::isDynamic(strides[axis]) ? Value(metadata.getStrides()[axis])
                                                : b.index(strides[axis]);
  };
  auto extent = [&](int64_t axis) -> Value {
    return type.isDynamicDim(axis) ? Value(metadata.getSizes()[axis])
                                   : b.index(type.getDimSize(axis));
  };
  ArrayRef<int64_t> axes = view.getAxes();
  unsigned next = 0;
  for (int64_t axis = 0; axis < type.getRank(); ++axis)
    if (!llvm::is_contained(axes, axis))
      result.base = b.add(result.base, b.mul(view.getAt()[next++], stride(axis)));
  if (axes.size() == 2) {
    result.stride[0] = stride(axes[0]);
    result.extent[0] = view.getLength() ? Value(view.getLength()) : extent(axes[0]);
  } else {
    result.stride[0] = b.index(0);
    result.extent[0] = b.index(1);
  }
  result.stride[1] = stride(axes.back());
  result.extent[1] = extent(axes.back());
  return result;
}

/// A buffer's offset or stride; with the identity layout strides are products of sizes.
static bool isMultipleOf(memref::ExtractStridedMetadataOp metadata, Value result, int64_t factor) {
  MemRefType type = metadata.getSource().getType();
  SmallVector<int64_t> strides;
  int64_t offset;
  if (failed(type.getStridesAndOffset(strides, offset)))
    return false;
  if (result == metadata.getOffset())
    return ShapedType::isStatic(offset) && offset % factor == 0;
  for (auto [axis, stride] : llvm::enumerate(metadata.getStrides())) {
    if (stride != result)
      continue;
    if (ShapedType::isStatic(strides[axis]))
      return strides[axis] % factor == 0;
    int64_t known = 1;
    for (int64_t inner : type.getShape().drop_front(axis + 1))
      known *= ShapedType::isDynamic(inner) ? 1 : inner;
    return type.getLayout().isIdentity() && known % factor == 0;
  }
  return false;
}

bool mlir::fovea::isMultipleOf(Value index, int64_t factor) {
  if (factor == 1)
    return true;
  if (std::optional<int64_t> value = getConstant(index))
    return *value % factor == 0;
  if (auto argument = dyn_cast<BlockArgument>(index)) {
    auto loop = dyn_cast<scf::ForOp>(argument.getOwner()->getParentOp());
    return loop && loop.getInductionVar() == index && isMultipleOf(loop.getLowerBound(), factor) &&
           isMultipleOf(loop.getStep(), factor);
  }
  Operation *op = index.getDefiningOp();
  auto operandIs = [&](unsigned number, int64_t multiple) {
    return isMultipleOf(op->getOperand(number), multiple);
  };
  auto both = [&] { return operandIs(0, factor) && operandIs(1, factor); };
  if (isa<arith::MulIOp>(op)) {
    for (unsigned number : {0, 1})
      if (std::optional<int64_t> known = getConstant(op->getOperand(number)))
        return operandIs(1 - number, factor / std::gcd(factor, *known));
    return operandIs(0, factor) || operandIs(1, factor);
  }
  if (isa<arith::AddIOp, arith::SubIOp, arith::MinSIOp, arith::MaxSIOp, arith::MinUIOp,
          arith::MaxUIOp>(op))
    return both();
  if (isa<arith::RemUIOp, arith::RemSIOp>(op)) {
    std::optional<int64_t> by = getConstant(op->getOperand(1));
    return both() || (by && *by > 0 && operandIs(0, *by)); // then it is zero
  }
  if (isa<arith::DivUIOp, arith::DivSIOp>(op)) {
    std::optional<int64_t> by = getConstant(op->getOperand(1));
    return by && *by > 0 && *by < (int64_t(1) << 32) && operandIs(0, factor * *by);
  }
  // Narrower numbers keep their lowest bits.
  if (isa<arith::IndexCastOp, arith::IndexCastUIOp>(op))
    return llvm::isPowerOf2_64(factor) && operandIs(0, factor);
  if (auto select = dyn_cast<arith::SelectOp>(op))
    return isMultipleOf(select.getTrueValue(), factor) &&
           isMultipleOf(select.getFalseValue(), factor);
  if (auto metadata = dyn_cast<memref::ExtractStridedMetadataOp>(op))
    return ::isMultipleOf(metadata, index, factor);
  return false;
}
