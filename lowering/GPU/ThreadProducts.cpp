// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Products by scalar fused multiply-adds: for each k a thread reads what its rows and what its
// columns need, from shared memory or in place, and adds all their products to its sums.
#include "lowering/GPU/ThreadLowering.h"

using namespace mlir;
using namespace mlir::fovea;
using namespace mlir::fovea::tile;

FailureOr<ThreadLowering::DepthReader> ThreadLowering::readOperand(MmaOp op, Value operand,
                                                                   int64_t axis, Value &depth) {
  TileType result = op.getResult().getType();
  Type sum = result.getElementType();
  LayoutAttr layout = result.getLayout();
  bool isA = operand == op.getA() && axis == 0;
  // The operand's axis that is the result's, and the one that is summed over.
  int64_t outer = isA || op.getTransposeB() ? 0 : 1, inner = 1 - outer;
  TileRegisters registers(result);

  if (auto type = dyn_cast<SharedType>(operand.getType())) {
    Value memory = get(operand);
    SmallVector<Value> places;
    for (int64_t i = 0; i < registers.count(axis); ++i) {
      Value at = mul32(add32(part32(layout, axis), int32(registers.place(axis, i))),
                       type.getStride(outer));
      if (Value inside = isInside(result, registers, axis, i))
        at = arith::SelectOp::create(b, inside, at, int32(0));
      places.push_back(at);
    }
    return DepthReader([this, memory, type, places, inner, sum](Value k) {
      Value narrow = b.createOrFold<arith::IndexCastOp>(b.getI32Type(), k);
      Value along = mul32(narrow, type.getStride(inner));
      SmallVector<Value> values;
      for (Value at : places)
        values.push_back(b.convert(loadShared(memory, type, add32(at, along)), sum));
      return values;
    });
  }

  auto load = operand.getDefiningOp<LoadOp>();
  FailureOr<const ViewMemory *> found = getView(load, load.getView());
  if (failed(found))
    return failure();
  const ViewMemory view = **found;
  Value starts[2] = {get(load.getRow()), get(load.getColumn())};
  // No term is added whose k is outside of the view.
  int64_t tileDepth = load.getTile().getType().getSize(inner);
  Value limit = view.inside(b, starts[inner], tileDepth, inner);
  if (limit)
    depth = depth ? b.minimum(depth, limit) : limit;
  // Elements past the view's end along the other axis are unspecified: the last one's. Where there
  // is none, nothing is read.
  std::optional<int64_t> first = getConstant(starts[outer]), end = getConstant(view.extent[outer]);
  Value last = b.sub(view.extent[outer], b.index(1));
  if (!end || *end < 1) {
    Value any =
        b.createOrFold<arith::CmpIOp>(arith::CmpIPredicate::sgt, view.extent[outer], b.index(0));
    depth = b.createOrFold<arith::SelectOp>(any, depth ? depth : b.index(tileDepth), b.index(0));
  }
  SmallVector<Value> places;
  Value base = b.add(starts[outer], part(layout, axis));
  for (int64_t i = 0; i < registers.count(axis); ++i) {
    Value at = b.add(base, registers.place(axis, i));
    bool surely = first && end && *first >= 0 &&
                  *first + registers.place(axis, i) + registers.reach(axis) < *end;
    places.push_back(surely ? at : b.minimum(at, last));
  }
  return DepthReader([this, view, places, outer, start = starts[inner], sum](Value k) {
    Value along = b.add(start, k);
    SmallVector<Value> values;
    for (Value at : places)
      values.push_back(b.convert(
          loadAt(view, outer == 0 ? view.place(b, at, along) : view.place(b, along, at)), sum));
    return values;
  });
}

LogicalResult ThreadLowering::lower(MmaOp op) {
  if (op.getAtom() == Atom::M64K16)
    return lowerByWarpgroups(op);
  if (op.getAtom())
    return lowerByWarps(op);
  TileType type = op.getResult().getType();
  if (failed(checkLayout(op, type)))
    return failure();
  TileRegisters registers(type);
  Value depth; // null: all of the operands'
  FailureOr<DepthReader> readA = readOperand(op, op.getA(), 0, depth);
  if (failed(readA))
    return failure();
  FailureOr<DepthReader> readB = readOperand(op, op.getB(), 1, depth);
  if (failed(readB))
    return failure();

  auto add = [&](Value k, SmallVector<Value> sums) {
    SmallVector<Value> x = (*readA)(k), y = (*readB)(k);
    for (int64_t i = 0; i < registers.count(); ++i)
      if (!registers.surelyOutside(i))
        sums[i] = b.mulAdd(x[registers.along(0, i)], y[registers.along(1, i)], sums[i]);
    return sums;
  };
  auto addUpTo = [&](Value begin, Value end, int64_t step, SmallVector<Value> sums) {
    return b.loop(begin, end, step, sums, [&](Value k, ValueRange carried) {
      SmallVector<Value> next(carried);
      for (int64_t i = 0; i < step; ++i)
        next = add(b.add(k, i), next);
      return next;
    });
  };
  constexpr int64_t kUnrolled = 4;
  SmallVector<Value> sums(getTile(op.getAcc()));
  Value zero = b.index(0);
  int64_t whole = isa<TileType>(op.getA().getType())
                      ? cast<TileType>(op.getA().getType()).getColumns()
                      : cast<SharedType>(op.getA().getType()).getColumns();
  Value end = depth ? depth : b.index(whole);
  Value even = b.sub(end, b.rem(end, kUnrolled));
  sums = addUpTo(zero, even, kUnrolled, sums);
  sums = addUpTo(even, end, 1, sums);
  define(op.getResult(), sums);
  return success();
}
