// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Shared memory: what all threads copy into it together, and what each puts and gets.
#include "dialects/Fovea/Try.h"
#include "lowering/GPU/ThreadLowering.h"
#include "mlir/Dialect/LLVMIR/NVVMDialect.h"

using namespace mlir;
using namespace mlir::fovea;
using namespace mlir::fovea::tile;

LogicalResult ThreadLowering::lower(SharedOp op) {
  if (!op.getAt())
    return op.emitOpError("expects a place, which fovea-plan-shared gives");
  // LLVM may read whole vectors.
  int64_t end = llvm::alignTo(*op.getAt() + op.getBytes(), 16);
  sharedBytes = std::max(sharedBytes, end);
  Value base = LLVM::AddressOfOp::create(b, shared);
  mapping.map(op.getMemory(),
              LLVM::GEPOp::create(b, base.getType(), b.getI8Type(), base,
                                  ArrayRef<LLVM::GEPArg>{static_cast<int32_t>(*op.getAt())})
                  .getResult());
  return success();
}

LogicalResult ThreadLowering::lower(StageOp op) {
  Value number = b.createOrFold<arith::IndexCastOp>(b.getI64Type(), get(op.getIndex()));
  mapping.map(op.getMemory(), slotPointer(op.getRing(), number));
  return success();
}

Value ThreadLowering::slotPointer(Value ring, Value number) {
  int64_t bytes = ring.getDefiningOp<SharedOp>().getSlotBytes();
  Value offset = b.createOrFold<arith::MulIOp>(
      number, arith::ConstantOp::create(b, b.getI64IntegerAttr(bytes)));
  Value base = get(ring);
  return LLVM::GEPOp::create(b, base.getType(), b.getI8Type(), base,
                             ArrayRef<LLVM::GEPArg>{offset});
}

LogicalResult ThreadLowering::lower(AsyncCommitOp) {
  NVVM::CpAsyncCommitGroupOp::create(b);
  return success();
}

LogicalResult ThreadLowering::lower(AsyncWaitOp op) {
  NVVM::CpAsyncWaitGroupOp::create(b, static_cast<uint32_t>(op.getPending()));
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

Value ThreadLowering::loadShared(Value memory, SharedType type, Value at, int64_t width) {
  Value pointer = sharedPointer(memory, type, at);
  if (width == 1)
    return LLVM::LoadOp::create(b, type.getElementType(), pointer);
  auto vector = VectorType::get(width, type.getElementType());
  return LLVM::LoadOp::create(b, vector, pointer, getBytes(vector));
}

void ThreadLowering::storeShared(Value value, Value memory, SharedType type, Value at) {
  Value pointer = sharedPointer(memory, type, at);
  if (auto vector = dyn_cast<VectorType>(value.getType()))
    LLVM::StoreOp::create(b, value, pointer, getBytes(vector));
  else
    LLVM::StoreOp::create(b, value, pointer);
}

RegisterRuns ThreadLowering::findRuns(TileType type, SharedType shared) {
  int64_t axis = shared.getColumnStride() == 1 ? 1 : 0, other = 1 - axis;
  return RegisterRuns(type, axis, [&](int64_t width) {
    return shared.getStride(axis) == 1 &&
           (type.getSize(other) == 1 || shared.getStride(other) % width == 0);
  });
}

Value ThreadLowering::sharedPlace(SharedType type, Value row, Value column) {
  if (!type.getSwizzle())
    return add32(mul32(row, type.getRowStride()), mul32(column, type.getColumnStride()));
  bool columnsFast = type.getFastAxis() == 1;
  Value fast = columnsFast ? column : row, slow = columnsFast ? row : column, panels = int32(0);
  if (type.getSize(type.getFastAxis()) > type.getPanel()) {
    Value panel = b.createOrFold<arith::DivUIOp>(fast, int32(type.getPanel()));
    panels = mul32(panel, type.getPanelStride());
    fast = b.createOrFold<arith::RemUIOp>(fast, int32(type.getPanel()));
  }
  Value at = add32(panels, add32(mul32(slow, type.getPanel()), fast));
  // Of the address the bits of 16 bytes within a row, by those of the row from 128 bytes on.
  Value rows = b.createOrFold<arith::ShRUIOp>(at, int32(3));
  int64_t mask = (type.getSwizzle() - 16) / type.getElementBytes();
  return b.createOrFold<arith::XOrIOp>(at, b.createOrFold<arith::AndIOp>(rows, int32(mask)));
}

Value ThreadLowering::sharedPlace(SharedType type, LayoutAttr layout,
                                  const TileRegisters &registers, int64_t index) {
  if (type.getSwizzle()) {
    auto along = [&](int64_t axis) {
      return add32(part32(layout, axis),
                   int32(registers.place(axis, registers.along(axis, index))));
    };
    return sharedPlace(type, along(0), along(1));
  }
  Value at = int32(0);
  int64_t constant = 0;
  for (int64_t axis : {0, 1}) {
    at = add32(at, mul32(part32(layout, axis), type.getStride(axis)));
    constant += registers.place(axis, registers.along(axis, index)) * type.getStride(axis);
  }
  return add32(at, int32(constant));
}

/// One of the threads that hold copies writes.
LogicalResult ThreadLowering::lower(LocalStoreOp op) {
  TileType type = op.getTile().getType();
  if (failed(checkLayout(op, type)))
    return failure();
  TileRegisters registers(type);
  SmallVector<Value> values(getTile(op.getTile()));
  Value memory = get(op.getMemory());
  SharedType shared = op.getMemory().getType();
  RegisterRuns runs = findRuns(type, shared);
  when(isOwner(type.getLayout()), [&] {
    storeRuns(type, values, runs, [&](int64_t i, function_ref<Value()> value) {
      when(isInside(type, registers, i), [&] {
        Value all = value();
        storeShared(all, memory, shared, sharedPlace(shared, type.getLayout(), registers, i));
      });
    });
  });
  return success();
}

/// What is past the tile reads its first element instead.
LogicalResult ThreadLowering::lower(LocalLoadOp op) {
  TileType type = op.getTile().getType();
  if (failed(checkLayout(op, type)))
    return failure();
  TileRegisters registers(type);
  SharedType shared = op.getMemory().getType();
  RegisterRuns runs = findRuns(type, shared);
  define(op.getTile(), loadRuns(type, runs, [&](int64_t i, int64_t width) {
           Value at = sharedPlace(shared, type.getLayout(), registers, i);
           if (Value inside = isInside(type, registers, i))
             at = arith::SelectOp::create(b, inside, at, int32(0));
           return loadShared(get(op.getMemory()), shared, at, width);
         }));
  return success();
}

//===-- Copies -------------------------------------------------------------------------------===//

/// `inside` null: surely.
void ThreadLowering::beginCopy(const ViewMemory &view, Value from, Value memory, SharedType type,
                               Value to, int64_t width, Value inside) {
  int64_t elementBytes = type.getElementType().getIntOrFloatBitWidth() / 8;
  auto bytes = static_cast<uint32_t>(width * elementBytes);
  Value address = memref::ExtractAlignedPointerAsIndexOp::create(b, view.flat);
  address = b.add(address, b.mul(from, elementBytes));
  Value number = arith::IndexCastOp::create(b, b.getI64Type(), address);
  Value generic = LLVM::IntToPtrOp::create(b, LLVM::LLVMPointerType::get(b.getContext()), number);
  Value source =
      LLVM::AddrSpaceCastOp::create(b, LLVM::LLVMPointerType::get(b.getContext(), 1), generic);
  // Of no bytes of the source all are zero, and nothing is read.
  Value size;
  if (inside)
    size = arith::SelectOp::create(b, inside, int32(bytes), int32(0));
  // Only whole vectors can pass by the first cache, which has no use for them.
  auto cache = bytes == 16 ? NVVM::LoadCacheModifierKind::CG : NVVM::LoadCacheModifierKind::CA;
  NVVM::CpAsyncOp::create(b, sharedPointer(memory, type, to), source, bytes, cache, size);
}

/// A copy of a tile to shared memory by all threads: neighbours copy neighbours in memory.
class ThreadLowering::TileCopy {
public:
  TileCopy(ThreadLowering &t, CopyOp op, const ViewMemory &view, std::optional<ViewMemory> scales)
      : t(t), b(t.b), op(op), view(view), scales(scales), async(op.getAsync() && !op.converts()),
        type(op.getMemory().getType()), memory(t.get(op.getMemory())), row(t.get(op.getRow())),
        column(t.get(op.getColumn())) {}

  void run() {
    CopyOrder order(view, row, column, type, async);
    // A vector of which the view has a part is copied by elements.
    auto copyInside = [&] {
      copyAll(order.endsWithVectors ? order : CopyOrder(view, type), /*checked=*/true);
    };
    Value all = t.isAllInside(view, row, column, type.getRows(), type.getColumns());
    if (!all)
      copyAll(order, /*checked=*/false);
    else
      b.when(all, [&] { copyAll(order, /*checked=*/false); }, copyInside);
  }

private:
  /// The row and the column of one copy, by its number.
  std::array<Value, 2> placeOf(const CopyOrder &order, Value number) {
    std::array<Value, 2> at{t.int32(0), t.int32(0)};
    Value rest = number;
    for (int i = 0; i < 4; ++i) {
      if (order.sizes[i] == 1)
        continue;
      bool last = true;
      for (int j = i + 1; j < 4; ++j)
        last &= order.sizes[j] == 1;
      Value digit = last ? rest : b.createOrFold<arith::RemUIOp>(rest, t.int32(order.sizes[i]));
      if (!last)
        rest = b.createOrFold<arith::DivUIOp>(rest, t.int32(order.sizes[i]));
      at[order.axes[i]] = t.add32(at[order.axes[i]], t.mul32(digit, order.steps[i]));
    }
    return at;
  }

  /// What lies at `from`, as the elements of shared memory; zeros where it is not `inside`.
  Value read(const CopyOrder &order, ArrayRef<Value> from, Value inside) {
    Type moved = type.getElementType();
    if (order.width() > 1)
      moved = VectorType::get(order.width(), moved);
    auto load = [&] {
      Value run = t.loadRun(view, t.address(view, from[0], from[1], 0, 0), order.width());
      if (!op.converts())
        return SmallVector<Value>{run};
      Numbers numbers = t.toNumbers(run);
      SmallVector<Value> floats = scales ? t.scale(std::move(numbers), order.inside, *scales,
                                                   op.getGroup(), from[0], from[1])
                                         : t.toFloats(std::move(numbers));
      return SmallVector<Value>{b.convert(t.toVector(floats), type.getElementType())};
    };
    return t.where(inside, moved, load).front();
  }

  void copyOne(const CopyOrder &order, Value number, bool checked) {
    std::array<Value, 2> at = placeOf(order, number);
    Value from[2] = {b.add(row, t.toIndex(at[0])), b.add(column, t.toIndex(at[1]))};
    Value inside;
    if (checked)
      inside = t.both(t.isBelow(from[0], view.extent[0]), t.isBelow(from[1], view.extent[1]));
    Value to = t.sharedPlace(type, at[0], at[1]);
    if (async && order.isAsynchronous())
      return t.beginCopy(view, t.address(view, from[0], from[1], 0, 0), memory, type, to,
                         order.width(), inside);
    Value value = read(order, from, inside);
    if (order.isOnePiece())
      return t.storeShared(value, memory, type, to);
    SmallVector<Value> elements = t.toElements(value);
    for (ArrayRef<int64_t> piece : order.pieces) {
      auto [r, c] = order.inside[piece.front()];
      t.storeShared(t.toVector(llvm::map_to_vector(piece, [&](int64_t i) { return elements[i]; })),
                    memory, type,
                    t.sharedPlace(type, t.add32(at[0], t.int32(r)), t.add32(at[1], t.int32(c))));
    }
  }

  void copyAll(const CopyOrder &order, bool checked) {
    constexpr int64_t kUnrolled = 32;
    int64_t count = order.count(), rounds = llvm::divideCeil(count, t.threads);
    auto round = [&](Value number, bool partial) {
      Value exists;
      if (partial)
        exists = arith::CmpIOp::create(b, arith::CmpIPredicate::ult, number, t.int32(count));
      t.when(exists, [&] { copyOne(order, number, checked); });
    };
    bool even = count % t.threads == 0;
    if (rounds <= kUnrolled) {
      for (int64_t i = 0; i < rounds; ++i)
        round(t.add32(t.thread, t.int32(i * t.threads)), !even && i + 1 == rounds);
      return;
    }
    b.loop(b.index(0), b.index(count), t.threads, [&](Value i) {
      Value narrow = arith::IndexCastOp::create(b, b.getI32Type(), i);
      round(t.add32(t.thread, narrow), !even);
    });
  }

  ThreadLowering &t;
  Emitter &b;
  CopyOp op;
  const ViewMemory view;
  std::optional<ViewMemory> scales;
  bool async; ///< what is converted passes through registers, and is there at once
  SharedType type;
  Value memory, row, column;
};

LogicalResult ThreadLowering::lower(CopyOp op) {
  if (op.getMap())
    return copyBoxes(op);
  TRY(auto *view, getView(op, op.getView()));
  std::optional<ViewMemory> scales;
  if (op.getScales()) {
    TRY(auto *scaleView, getView(op, op.getScales()));
    scales = *scaleView;
  }
  TileCopy(*this, op, *view, scales).run();
  return success();
}
