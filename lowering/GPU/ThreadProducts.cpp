// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Products by scalar fused multiply-adds: for each k a thread reads what its rows and what its
// columns need, from shared memory or in place, and adds all their products to its sums. Several k
// are read at once where they lie beside each other in a packed weight.
#include "dialects/Fovea/Try.h"
#include "lowering/GPU/ThreadLowering.h"

using namespace mlir;
using namespace mlir::fovea;
using namespace mlir::fovea::tile;

/// `read` gives for each register along the axis as many depths from k on as it is asked for.
ThreadLowering::DepthReader ThreadLowering::readInRuns(DepthFunction read, int64_t width,
                                                       Type sum) {
  auto readRuns = [this, sum, read = std::move(read), width](Value k, int64_t count) {
    SmallVector<SmallVector<Value>> values(count);
    int64_t run = std::min(width, count);
    for (int64_t i = 0; i < count; i += run)
      for (ArrayRef<Value> loaded : read(b.add(k, i), run))
        for (auto [j, value] : llvm::enumerate(loaded))
          values[i + j].push_back(b.convert(value, sum));
    return values;
  };
  return {readRuns, width};
}

ThreadLowering::DepthReader ThreadLowering::readShared(TileType result, Value operand, int64_t axis,
                                                       int64_t outer) {
  auto type = cast<SharedType>(operand.getType());
  TileRegisters registers(result);
  Value memory = get(operand);
  SmallVector<Value> places;
  for (int64_t i = 0; i < registers.count(axis); ++i) {
    Value at = mul32(add32(part32(result.getLayout(), axis), int32(registers.place(axis, i))),
                     type.getStride(outer));
    if (Value inside = isInside(result, registers, axis, i))
      at = arith::SelectOp::create(b, inside, at, int32(0));
    places.push_back(at);
  }
  auto read = [this, memory, type, places, inner = 1 - outer](Value k, int64_t width) {
    Value narrow = b.createOrFold<arith::IndexCastOp>(b.getI32Type(), k);
    Value along = mul32(narrow, type.getStride(inner));
    return llvm::map_to_vector(places, [&](Value at) {
      return toElements(loadShared(memory, type, add32(at, along), width));
    });
  };
  return readInRuns(read, 1, result.getElementType());
}

/// An operand that is read from memory as it lies.
struct ThreadLowering::MemoryOperand {
  LoadOp load;
  ViewMemory view;
  // Scales lie as their integers do, `group` times as few along k.
  std::optional<ViewMemory> scales;
  Value scaleColumn;
  int64_t group = 0;
};

FailureOr<ThreadLowering::MemoryOperand> ThreadLowering::findOperand(Value operand, int64_t outer) {
  auto dequantize = operand.getDefiningOp<DequantizeOp>();
  LoadOp load = dequantize ? dequantize.getLoad() : operand.getDefiningOp<LoadOp>();
  TRY(auto *view, getView(load, load.getView()));
  MemoryOperand found{load, *view, std::nullopt, Value()};
  if (!dequantize || !dequantize.getScales())
    return found;
  LoadOp scaleLoad = dequantize.getScalesLoad();
  TRY(auto *scaleView, getView(scaleLoad, scaleLoad.getView()));
  found.scales = *scaleView;
  found.group = dequantize.getGroup();
  if (outer != 0 || scaleLoad.getRow() != load.getRow())
    return dequantize.emitOpError("expects to be read transposed, with scales of its own rows");
  found.scaleColumn = b.mul(get(scaleLoad.getColumn()), found.group);
  return found;
}

/// The elements at `width` neighbours in k from (at, along) on, as numbers.
SmallVector<Value> ThreadLowering::readRun(const MemoryOperand &from, int64_t outer, Value at,
                                           Value along, Value k, int64_t width) {
  const ViewMemory &view = from.view;
  Value run =
      loadRun(view, outer == 0 ? view.place(b, at, along) : view.place(b, along, at), width);
  if (!isa<IntegerType>(view.type))
    return toElements(run);
  Numbers numbers = toNumbers(run);
  if (!from.scales)
    return toFloats(std::move(numbers));
  SmallVector<std::array<int64_t, 2>> offsets;
  for (int64_t i = 0; i < width; ++i)
    offsets.push_back({0, i});
  return scale(std::move(numbers), offsets, *from.scales, from.group, at,
               b.add(from.scaleColumn, k));
}

FailureOr<ThreadLowering::DepthReader> ThreadLowering::readMemory(TileType result, Value operand,
                                                                  int64_t axis, int64_t outer,
                                                                  Value &depth) {
  TRY(MemoryOperand from, findOperand(operand, outer));
  const ViewMemory &view = from.view;
  int64_t inner = 1 - outer;
  TileRegisters registers(result);
  Value starts[2] = {get(from.load.getRow()), get(from.load.getColumn())};
  // No term is added whose k is outside of the view.
  int64_t tileDepth = from.load.getTile().getType().getSize(inner);
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
  Value base = b.add(starts[outer], part(result.getLayout(), axis));
  for (int64_t i = 0; i < registers.count(axis); ++i) {
    Value at = b.add(base, registers.place(axis, i));
    bool surely = first && end && *first >= 0 &&
                  *first + registers.place(axis, i) + registers.reach(axis) < *end;
    places.push_back(surely ? at : b.minimum(at, last));
  }
  auto read = [this, from, places, outer, start = starts[inner]](Value k, int64_t width) {
    Value along = b.add(start, k);
    return llvm::map_to_vector(places,
                               [&](Value at) { return readRun(from, outer, at, along, k, width); });
  };
  int64_t width = std::min(view.interleave, getVectorElements(view.type));
  bool inPieces = inner == 1 && width > 1 &&
                  isAligned(view, starts[0], starts[1], /*axis=*/1, /*several=*/true, width);
  return readInRuns(read, inPieces ? width : 1, result.getElementType());
}

FailureOr<ThreadLowering::DepthReader> ThreadLowering::readOperand(MmaOp op, Value operand,
                                                                   int64_t axis, Value &depth) {
  TileType result = op.getResult().getType();
  bool isA = operand == op.getA() && axis == 0;
  // The operand's axis that is the result's; the other one is summed over.
  int64_t outer = isA || op.getTransposeB() ? 0 : 1;
  if (isa<SharedType>(operand.getType()))
    return readShared(result, operand, axis, outer);
  return readMemory(result, operand, axis, outer, depth);
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
  TRY(DepthReader readA, readOperand(op, op.getA(), 0, depth));
  TRY(DepthReader readB, readOperand(op, op.getB(), 1, depth));

  int64_t together = std::max(readA.width, readB.width);
  // Threads that hold the same sums take turns along the depth.
  int64_t copies = op.getScratch() ? countCopies(type.getLayout(), threads) : 1;
  Value turn = int32(0);
  if (copies > 1)
    turn = b.createOrFold<arith::DivUIOp>(thread, int32(threads / copies));
  auto add = [&](Value k, int64_t count, SmallVector<Value> sums) {
    auto x = readA.read(k, count), y = readB.read(k, count);
    for (int64_t j = 0; j < count; ++j)
      for (int64_t i = 0; i < registers.count(); ++i)
        if (!registers.surelyOutside(i))
          sums[i] = b.mulAdd(x[j][registers.along(0, i)], y[j][registers.along(1, i)], sums[i]);
    return sums;
  };
  auto addUpTo = [&](Value begin, Value end, int64_t step, SmallVector<Value> sums) {
    if (copies > 1)
      begin = b.add(begin, b.mul(toIndex(turn), step));
    return b.loop(begin, end, step * copies, sums, [&](Value k, ValueRange carried) {
      SmallVector<Value> next(carried);
      int64_t count = std::min(step, together);
      for (int64_t i = 0; i < step; i += count)
        next = add(b.add(k, i), count, next);
      return next;
    });
  };
  // Of what is read in place some loads are under way at a time.
  bool streams = isa<TileType>(op.getB().getType());
  int64_t unrolled = std::max<int64_t>(4, streams ? kLoads * together : together);
  SmallVector<Value> sums(getTile(op.getAcc()));
  if (copies > 1) {
    Value isFirst = arith::CmpIOp::create(b, arith::CmpIPredicate::eq, turn, int32(0));
    for (Value &sum : sums)
      sum = arith::SelectOp::create(b, isFirst, sum, b.zero(sum.getType()));
  }
  int64_t whole = isa<TileType>(op.getA().getType())
                      ? cast<TileType>(op.getA().getType()).getColumns()
                      : cast<SharedType>(op.getA().getType()).getColumns();
  Value end = depth ? depth : b.index(whole), begin = b.index(0);
  for (int64_t step : {unrolled, together, int64_t(1)}) {
    Value even = b.sub(end, b.rem(end, step));
    if (getConstant(even) && getConstant(even) == getConstant(begin))
      continue;
    sums = addUpTo(begin, even, step, sums);
    begin = even;
  }
  if (copies > 1) {
    int64_t held = threads / copies;
    Value first = b.createOrFold<arith::RemUIOp>(thread, int32(held));
    SmallVector<Value> holders;
    for (int64_t copy = 0; copy < copies; ++copy)
      holders.push_back(add32(first, int32(copy * held)));
    if (failed(meet(op, sums, op.getScratch(), holders, ReduceKind::Sum)))
      return failure();
  }
  define(op.getResult(), sums);
  return success();
}
