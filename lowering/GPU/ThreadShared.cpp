// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Shared memory: what all threads copy into it together, and what each puts and gets.
#include "lowering/GPU/ThreadLowering.h"

using namespace mlir;
using namespace mlir::fovea;
using namespace mlir::fovea::tile;

LogicalResult ThreadLowering::lower(SharedOp op) {
  SharedType type = op.getMemory().getType();
  if (!op.getAt())
    return op.emitOpError("expects a place, which fovea-plan-shared gives");
  // LLVM may read whole vectors.
  int64_t end = llvm::alignTo(*op.getAt() + type.getBytes(), 16);
  sharedBytes = std::max(sharedBytes, end);
  Value base = LLVM::AddressOfOp::create(b, shared);
  mapping.map(op.getMemory(),
              LLVM::GEPOp::create(b, base.getType(), b.getI8Type(), base,
                                  ArrayRef<LLVM::GEPArg>{static_cast<int32_t>(*op.getAt())})
                  .getResult());
  return success();
}

LogicalResult ThreadLowering::lower(BarrierOp) {
  emitBarrier();
  return success();
}

Value ThreadLowering::sharedPointer(Value memory, SharedType type, Value at) {
  Value wide = LLVM::ZExtOp::create(b, b.getI64Type(), at);
  return LLVM::GEPOp::create(b, memory.getType(), type.getElementType(), memory,
                             ArrayRef<LLVM::GEPArg>{wide});
}

Value ThreadLowering::loadShared(Value memory, SharedType type, Value at) {
  return LLVM::LoadOp::create(b, type.getElementType(), sharedPointer(memory, type, at));
}

void ThreadLowering::storeShared(Value value, Value memory, SharedType type, Value at) {
  LLVM::StoreOp::create(b, value, sharedPointer(memory, type, at));
}

Value ThreadLowering::sharedPlace(SharedType type, LayoutAttr layout,
                                  const TileRegisters &registers, int64_t index) {
  Value at = int32(0);
  int64_t constant = 0;
  for (int64_t axis : {0, 1}) {
    at = add32(at, mul32(part32(layout, axis), type.getStride(axis)));
    constant += registers.place(axis, registers.along(axis, index)) * type.getStride(axis);
  }
  return add32(at, int32(constant));
}

/// One of the threads that hold copies writes.
LogicalResult ThreadLowering::lower(PutOp op) {
  TileType type = op.getTile().getType();
  if (failed(checkLayout(op, type)))
    return failure();
  TileRegisters registers(type);
  SmallVector<Value> values(getTile(op.getTile()));
  Value memory = get(op.getMemory());
  when(isOwner(type.getLayout()), [&] {
    for (int64_t i = 0; i < registers.count(); ++i)
      if (!registers.surelyOutside(i))
        when(isInside(type, registers, i), [&] {
          SharedType shared = op.getMemory().getType();
          storeShared(values[i], memory, shared,
                      sharedPlace(shared, type.getLayout(), registers, i));
        });
  });
  return success();
}

/// What is past the tile reads its first element instead.
LogicalResult ThreadLowering::lower(GetOp op) {
  TileType type = op.getTile().getType();
  if (failed(checkLayout(op, type)))
    return failure();
  TileRegisters registers(type);
  SharedType shared = op.getMemory().getType();
  SmallVector<Value> values;
  for (int64_t i = 0; i < registers.count(); ++i) {
    if (registers.surelyOutside(i)) {
      values.push_back(b.zero(type.getElementType()));
      continue;
    }
    Value at = sharedPlace(shared, type.getLayout(), registers, i);
    if (Value inside = isInside(type, registers, i))
      at = arith::SelectOp::create(b, inside, at, int32(0));
    values.push_back(loadShared(get(op.getMemory()), shared, at));
  }
  define(op.getTile(), values);
  return success();
}

//===-- Copies -------------------------------------------------------------------------------===//

namespace {
/// Element `number` of a matrix, counted in the order in which its memory runs, as row and column.
struct Order {
  Order(const ViewMemory &view, SharedType type);
  int64_t sizes[4]; ///< fastest first
  int64_t axes[4];  ///< which axis each one counts along
  int64_t steps[4]; ///< and in which steps
};
} // namespace

Order::Order(const ViewMemory &view, SharedType type) {
  int64_t panel = view.panel, pair = view.interleave;
  bool panels = panel != 0 && type.getRows() % panel == 0 && type.getColumns() % pair == 0;
  if (!panels) {
    int64_t fast = view.isUnit(0) ? 0 : 1;
    if (panel != 0)
      fast = 0;
    for (int i = 0; i < 4; ++i)
      sizes[i] = 1, axes[i] = 0, steps[i] = 0;
    for (int i = 0; i < 2; ++i)
      axes[i] = i == 0 ? fast : 1 - fast, sizes[i] = type.getSize(axes[i]), steps[i] = 1;
    return;
  }
  int64_t of[4][3] = {{pair, 1, 1},
                      {panel, 0, 1},
                      {type.getColumns() / pair, 1, pair},
                      {type.getRows() / panel, 0, panel}};
  for (int i = 0; i < 4; ++i)
    sizes[i] = of[i][0], axes[i] = of[i][1], steps[i] = of[i][2];
}

/// Neighbouring threads copy neighbours in memory.
LogicalResult ThreadLowering::lower(CopyOp op) {
  FailureOr<const ViewMemory *> found = getView(op, op.getView());
  if (failed(found))
    return failure();
  const ViewMemory view = **found;
  SharedType type = op.getMemory().getType();
  Value memory = get(op.getMemory()), row = get(op.getRow()), column = get(op.getColumn());
  Order order(view, type);
  int64_t elements = type.getRows() * type.getColumns();
  int64_t rounds = llvm::divideCeil(elements, threads);

  auto copyOne = [&](Value number, bool checked) {
    Value at[2] = {int32(0), int32(0)}, rest = number;
    for (int i = 0; i < 4; ++i) {
      if (order.sizes[i] == 1)
        continue;
      bool last = true;
      for (int j = i + 1; j < 4; ++j)
        last &= order.sizes[j] == 1;
      Value digit = last ? rest : b.createOrFold<arith::RemUIOp>(rest, int32(order.sizes[i]));
      if (!last)
        rest = b.createOrFold<arith::DivUIOp>(rest, int32(order.sizes[i]));
      at[order.axes[i]] = add32(at[order.axes[i]], mul32(digit, order.steps[i]));
    }
    Value from[2] = {b.add(row, toIndex(at[0])), b.add(column, toIndex(at[1]))};
    Value inside;
    if (checked)
      inside = both(isBelow(from[0], view.extent[0]), isBelow(from[1], view.extent[1]));
    Value value = where(inside, type.getElementType(), [&] {
                    return SmallVector<Value>{loadAt(view, address(view, from[0], from[1], 0, 0))};
                  }).front();
    storeShared(value, memory, type,
                add32(mul32(at[0], type.getRowStride()), mul32(at[1], type.getColumnStride())));
  };
  auto copyAll = [&](bool checked) {
    constexpr int64_t kUnrolled = 32;
    auto round = [&](Value number, bool partial) {
      Value exists;
      if (partial)
        exists = arith::CmpIOp::create(b, arith::CmpIPredicate::ult, number, int32(elements));
      when(exists, [&] { copyOne(number, checked); });
    };
    bool even = elements % threads == 0;
    if (rounds <= kUnrolled) {
      for (int64_t i = 0; i < rounds; ++i)
        round(add32(thread, int32(i * threads)), !even && i + 1 == rounds);
      return;
    }
    b.loop(b.index(0), b.index(elements), threads, [&](Value i) {
      Value narrow = arith::IndexCastOp::create(b, b.getI32Type(), i);
      round(add32(thread, narrow), !even);
    });
  };
  Value all = isAllInside(view, row, column, type.getRows(), type.getColumns());
  if (!all)
    copyAll(false);
  else
    b.when(all, [&] { copyAll(false); }, [&] { copyAll(true); });
  return success();
}
