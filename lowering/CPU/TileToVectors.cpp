// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Lowers tile programs to vectors. A tile that more than one op reads, or that a product reads, has
// a buffer of its own, small enough for the nearest cache; what one op alone reads is computed
// where it is read. Products run over register blocks, which `DotAtoms` compute. Edges of memory:
// rows are clamped or left out, lanes are masked.
#include "lowering/CPU/DotAtoms.h"
#include "lowering/CPU/TileMemory.h"
#include "lowering/CPU/VectorRegion.h"
#include "lowering/Lowering.h"
#include "mlir/Dialect/Math/IR/Math.h"
#include <limits>

namespace mlir::fovea {
#define GEN_PASS_DEF_TILETOVECTORSPASS
#include "lowering/Passes.h.inc"
} // namespace mlir::fovea

using namespace mlir;
using namespace mlir::fovea;
using namespace mlir::fovea::tile;

namespace {

/// A tile in its buffer.
struct Scratch {
  Value memory; ///< rank 1, aligned to 64 bytes
  TileLayout layout;
};

/// The most rows of a register block.
constexpr int64_t kMaxBlockRows = 16;

class TileLowering {
public:
  TileLowering(func::FuncOp function, int64_t lanes, ArrayRef<const DotAtom *> atoms)
      : function(function),
        b(function.getLoc(), OpBuilder::atBlockBegin(&function.getBody().front())), lanes(lanes),
        atoms(atoms) {}
  LogicalResult run();
  int64_t getScratchBytes() const { return scratchBytes; }

private:
  static TileType typeOf(Value tile) { return cast<TileType>(tile.getType()); }
  TileLayout layoutOf(Value tile) const { return TileLayout(typeOf(tile), lanes); }

  void lowerKernel(KernelOp kernel);
  LogicalResult lowerBlock(Block &block);
  LogicalResult lowerLoop(scf::ForOp loop);
  LogicalResult lowerBranch(scf::IfOp branch);
  LogicalResult lowerDot(DotOp dot);
  LogicalResult lowerStore(StoreOp store);
  void lowerReduce(ReduceOp reduce);
  void lowerGather(GatherOp gather);
  void lowerCast(CastOp cast);
  void eraseTiles();

  //===-- Buffers -------------------------------------------------------------------------===//

  Value allocate(Type element, const TileLayout &layout);
  Type storageType(Type element) { return element.isInteger(1) ? Type(b.getI8Type()) : element; }
  /// Whether the tile is computed where it is read.
  bool isLazy(Value tile);
  /// The tile's own buffer; of a load, made if need be. Lanes along `axis`.
  Scratch materialize(Value tile);
  Scratch materialize(Value tile, int64_t axis);
  Scratch loadToScratch(LoadOp load, int64_t axis);
  /// A buffer of this layout whose tile nobody reads after `user`, found among `user`'s operands.
  std::optional<Scratch> findDonor(Value tile, Operation *user, TileType type);
  Scratch resultScratch(Value result, std::optional<Scratch> donor);
  void copy(Value from, const Scratch &to);

  //===-- Elements ------------------------------------------------------------------------===//

  const ViewMemory &viewOf(Value view);
  /// A load whose lanes along `axis` are surely inside of the view, beside each other in memory.
  bool isDirect(LoadOp load, int64_t axis);
  /// How many places along `axis` are inside of what the tile was loaded from; null: all.
  Value validAlong(Value tile, int64_t axis);
  Value endAlong(Value tile, int64_t axis);
  /// A vector of elements: lanes along `axis` from `inner` on, at `outer` along the other.
  LaneValue read(Value tile, int64_t axis, Value outer, Value inner);
  Value readVector(Value tile, int64_t axis, Value outer, Value inner);
  Value readScratch(const Scratch &scratch, Type element, Value at, int64_t count);
  void write(const Scratch &scratch, Value outer, Value inner, Value vector);
  /// `body(outer, inner)` for each vector of the tile.
  void forEachVector(const TileLayout &layout, Value outerEnd,
                     function_ref<void(Value, Value)> body);

  func::FuncOp function;
  Emitter b;
  int64_t lanes;
  ArrayRef<const DotAtom *> atoms;
  int64_t scratchBytes = 0;
  /// By tile; loads may also lie along their other axis.
  llvm::DenseMap<std::pair<Value, int64_t>, Scratch> buffers;
  llvm::DenseMap<Value, std::unique_ptr<ViewMemory>> views; ///< which stay where they are
  llvm::DenseMap<std::pair<Value, int64_t>, Value> valid;
  SmallVector<Operation *> tileOps;
};

} // namespace

//===-- Buffers ------------------------------------------------------------------------------===//

Value TileLowering::allocate(Type element, const TileLayout &layout) {
  // Register blocks may reach past the last row, and vectors past the last element of a column.
  int64_t rows = layout.outer + std::min<int64_t>(layout.outer, kMaxBlockRows) - 1;
  int64_t count = rows * layout.pitch + 16;
  OpBuilder::InsertionGuard guard(b);
  b.setInsertionPointToStart(&function.getBody().front());
  auto type = MemRefType::get(count, storageType(element));
  scratchBytes += count * llvm::divideCeil(type.getElementTypeBitWidth(), 8);
  return memref::AllocaOp::create(b, type, b.getI64IntegerAttr(64));
}

bool TileLowering::isLazy(Value tile) {
  Operation *op = tile.getDefiningOp();
  if (!op)
    return false;
  auto readOnceIn = [&](Operation *user) {
    return user->getBlock() == op->getBlock() && isa<MapOp, ReduceOp, StoreOp>(user);
  };
  if (isa<SplatOp, BroadcastOp>(op))
    return true;
  if (isa<IotaOp>(op)) // a broadcast of numbers that count would not count in lanes
    return llvm::none_of(op->getUsers(), llvm::IsaPred<BroadcastOp, ReduceOp, DotOp>);
  if (auto load = dyn_cast<LoadOp>(op))
    return isDirect(load, layoutOf(tile).axis) &&
           llvm::none_of(op->getUsers(), llvm::IsaPred<BroadcastOp>);
  if (!isa<MapOp>(op) || !op->hasOneUse())
    return false;
  Operation *user = *op->user_begin();
  if (auto dot = dyn_cast<DotOp>(user))
    return dot.getAcc() == tile && dot.getA() != tile && dot.getB() != tile &&
           user->getBlock() == op->getBlock();
  if (auto store = dyn_cast<StoreOp>(user))
    return readOnceIn(user) && viewOf(store.getView()).isUnit(layoutOf(tile).axis);
  return readOnceIn(user);
}

Scratch TileLowering::resultScratch(Value result, std::optional<Scratch> donor) {
  TileLayout layout = layoutOf(result);
  Scratch scratch =
      donor ? *donor : Scratch{allocate(typeOf(result).getElementType(), layout), layout};
  buffers.try_emplace({result, layout.axis}, scratch);
  return scratch;
}

std::optional<Scratch> TileLowering::findDonor(Value tile, Operation *user, TileType type) {
  if (!tile)
    return std::nullopt;
  Block *block = tile.getDefiningOp() ? tile.getDefiningOp()->getBlock()
                                      : cast<BlockArgument>(tile).getOwner();
  if (block != user->getBlock() || !tile.hasOneUse())
    return std::nullopt;
  if (isLazy(tile)) {
    auto map = tile.getDefiningOp<MapOp>();
    if (!map)
      return std::nullopt;
    for (Value input : map.getInputs())
      if (std::optional<Scratch> donor = findDonor(input, user, type))
        return donor;
    return std::nullopt;
  }
  auto found = buffers.find({tile, layoutOf(tile).axis});
  if (found == buffers.end() || !(layoutOf(tile) == TileLayout(type, lanes)) ||
      typeOf(tile).getElementType() != type.getElementType())
    return std::nullopt;
  return found->second;
}

void TileLowering::copy(Value from, const Scratch &to) {
  forEachVector(to.layout, b.index(to.layout.outer), [&](Value outer, Value inner) {
    write(to, outer, inner, readVector(from, to.layout.axis, outer, inner));
  });
}

Scratch TileLowering::materialize(Value tile) { return materialize(tile, layoutOf(tile).axis); }

Scratch TileLowering::materialize(Value tile, int64_t axis) {
  auto found = buffers.find({tile, axis});
  if (found != buffers.end())
    return found->second;
  OpBuilder::InsertionGuard guard(b);
  if (Operation *op = tile.getDefiningOp())
    b.setInsertionPointAfter(op);
  TileLayout layout = layoutOf(tile);
  Scratch result{Value(), layout};
  if (auto load = tile.getDefiningOp<LoadOp>()) {
    result = loadToScratch(load, axis);
  } else if (layout.axis == axis) {
    result.memory = allocate(typeOf(tile).getElementType(), layout);
    copy(tile, result);
  } else {
    // The other way round: elements one by one.
    Scratch source = materialize(tile);
    result.layout.axis = axis;
    std::swap(result.layout.outer, result.layout.inner);
    result.layout.pitch = llvm::alignTo(result.layout.inner, lanes);
    result.memory = allocate(typeOf(tile).getElementType(), result.layout);
    b.loop(b.index(0), b.index(layout.outer), 1, [&](Value outer) {
      b.loop(b.index(0), b.index(layout.inner), 1, [&](Value inner) {
        Value from = b.add(b.mul(outer, layout.pitch), inner);
        Value to = b.add(b.mul(inner, result.layout.pitch), outer);
        Value element = memref::LoadOp::create(b, source.memory, from);
        memref::StoreOp::create(b, element, result.memory, to);
      });
    });
  }
  buffers.try_emplace({tile, axis}, result);
  return result;
}

//===-- Elements -----------------------------------------------------------------------------===//

const ViewMemory &TileLowering::viewOf(Value view) {
  auto found = views.find(view);
  if (found != views.end())
    return *found->second;
  OpBuilder::InsertionGuard guard(b);
  Operation *op = view.getDefiningOp();
  b.setInsertionPointAfter(op);
  auto memory = std::make_unique<ViewMemory>(describeView(b, op));
  return *views.try_emplace(view, std::move(memory)).first->second;
}

static Value offsetOf(LoadOp load, int64_t axis) {
  return axis == 0 ? load.getRow() : load.getColumn();
}

bool TileLowering::isDirect(LoadOp load, int64_t axis) {
  const ViewMemory &view = viewOf(load.getView());
  std::optional<int64_t> offset = getConstant(offsetOf(load, axis));
  std::optional<int64_t> extent = getConstant(view.extent[axis]);
  int64_t size = llvm::alignTo(typeOf(load).getSize(axis), lanes);
  return view.isUnit(axis) && offset && extent && *offset + size <= *extent &&
         !typeOf(load).getElementType().isInteger(1);
}

Value TileLowering::validAlong(Value tile, int64_t axis) {
  auto found = valid.find({tile, axis});
  if (found != valid.end())
    return found->second;
  Operation *op = tile.getDefiningOp();
  Value result;
  OpBuilder::InsertionGuard guard(b);
  if (op)
    b.setInsertionPointAfter(op);
  auto least = [&](Value l, Value r) -> Value {
    if (!l || l == r)
      return r ? r : l;
    return r ? b.minimum(l, r) : l;
  };
  if (auto load = dyn_cast_if_present<LoadOp>(op)) {
    const ViewMemory &view = viewOf(load.getView());
    Value offset = offsetOf(load, axis);
    int64_t size = typeOf(tile).getSize(axis);
    std::optional<int64_t> known = getConstant(offset), extent = getConstant(view.extent[axis]);
    if (!(known && extent && *known + size <= *extent)) {
      Value rest = b.maximum(b.sub(view.extent[axis], offset), b.index(0));
      result = b.minimum(rest, b.index(size));
    }
  } else if (auto map = dyn_cast_if_present<MapOp>(op)) {
    // A select may give what is not known a value.
    bool selects = false;
    map.getBody().walk([&](arith::SelectOp) { selects = true; });
    for (Value input : map.getInputs()) {
      selects |= isa_and_present<IotaOp>(input.getDefiningOp());
      if (!selects)
        result = least(result, validAlong(input, axis));
    }
    if (selects)
      result = Value();
  } else if (auto broadcast = dyn_cast_if_present<BroadcastOp>(op)) {
    if (typeOf(broadcast.getInput()).getSize(axis) == typeOf(tile).getSize(axis))
      result = validAlong(broadcast.getInput(), axis);
  } else if (auto cast = dyn_cast_if_present<CastOp>(op)) {
    result = validAlong(cast.getInput(), axis);
  } else if (auto dot = dyn_cast_if_present<DotOp>(op)) {
    result =
        axis == 0 ? validAlong(dot.getA(), 0) : validAlong(dot.getB(), dot.getTransposeB() ? 0 : 1);
    if (dot.getAcc())
      result = least(result, validAlong(dot.getAcc(), axis));
  } else if (auto reduce = dyn_cast_if_present<ReduceOp>(op)) {
    if (static_cast<int64_t>(reduce.getAxis()) != axis)
      result = validAlong(reduce.getInput(), axis);
  }
  valid[{tile, axis}] = result;
  return result;
}

Value TileLowering::endAlong(Value tile, int64_t axis) {
  Value end = validAlong(tile, axis);
  return end ? end : b.index(typeOf(tile).getSize(axis));
}

Value TileLowering::readScratch(const Scratch &scratch, Type element, Value at, int64_t count) {
  Value loaded;
  if (count == 1) {
    loaded = memref::LoadOp::create(b, scratch.memory, at);
  } else {
    int64_t bytes = count * llvm::divideCeil(storageType(element).getIntOrFloatBitWidth(), 8);
    loaded = b.load(storageType(element), scratch.memory, at, count, std::min<int64_t>(bytes, 64));
  }
  if (!element.isInteger(1))
    return loaded;
  return arith::CmpIOp::create(b, arith::CmpIPredicate::ne, loaded, b.zero(loaded.getType()));
}

void TileLowering::write(const Scratch &scratch, Value outer, Value inner, Value vector) {
  auto type = cast<VectorType>(vector.getType());
  if (type.getElementType().isInteger(1))
    vector = arith::ExtUIOp::create(b, type.clone(b.getI8Type()), vector);
  type = cast<VectorType>(vector.getType());
  int64_t bytes = lanes * llvm::divideCeil(type.getElementTypeBitWidth(), 8);
  b.store(vector, scratch.memory, b.add(b.mul(outer, scratch.layout.pitch), inner),
          std::min<int64_t>(bytes, 64));
}

LaneValue TileLowering::read(Value tile, int64_t axis, Value outer, Value inner) {
  Operation *op = tile.getDefiningOp();
  TileType type = typeOf(tile);
  bool uniform = type.getSize(axis) == 1;
  if (auto splat = dyn_cast_if_present<SplatOp>(op))
    return LaneValue::uniform(splat.getValue());
  if (auto broadcast = dyn_cast_if_present<BroadcastOp>(op)) {
    TileType input = typeOf(broadcast.getInput());
    return read(broadcast.getInput(), axis, input.getSize(1 - axis) == 1 ? b.index(0) : outer,
                input.getSize(axis) == 1 ? b.index(0) : inner);
  }
  bool buffered = buffers.contains({tile, layoutOf(tile).axis});
  if (!buffered && isLazy(tile)) {
    if (auto iota = dyn_cast<IotaOp>(op)) {
      bool along = static_cast<int64_t>(iota.getAxis()) == axis;
      Value first = b.add(iota.getFirst(), along ? inner : outer);
      first = arith::IndexCastOp::create(b, b.getI32Type(), first);
      return along && !uniform ? LaneValue::linear(first) : LaneValue::uniform(first);
    }
    if (auto map = dyn_cast<MapOp>(op)) {
      SmallVector<LaneValue> arguments;
      for (Value input : map.getInputs())
        arguments.push_back(read(input, axis, outer, inner));
      return emitRegion(b, map.getBody(), arguments, lanes);
    }
    auto load = cast<LoadOp>(op);
    const ViewMemory &view = viewOf(load.getView());
    if (axis == layoutOf(tile).axis) {
      // Rows past the end read the last one.
      Value last = b.sub(view.extent[1 - axis], b.index(1));
      Value at[2];
      at[axis] = b.add(offsetOf(load, axis), inner);
      at[1 - axis] = b.add(offsetOf(load, 1 - axis), outer);
      if (validAlong(tile, 1 - axis))
        at[1 - axis] = b.minimum(at[1 - axis], last);
      Value place = view.place(b, at[0], at[1]);
      return LaneValue::varying(b.load(view.type, view.flat, place, lanes));
    }
  }
  Scratch scratch = materialize(tile);
  const TileLayout &layout = scratch.layout;
  if (uniform) {
    // One element for all lanes: a row's or a column's.
    Value at = layout.axis == axis ? b.mul(outer, layout.pitch) : outer;
    return LaneValue::uniform(readScratch(scratch, type.getElementType(), at, 1));
  }
  if (layout.axis == axis) {
    Value at = b.add(b.mul(outer, layout.pitch), inner);
    return LaneValue::varying(readScratch(scratch, type.getElementType(), at, lanes));
  }
  Scratch turned = materialize(tile, axis);
  Value at = b.add(b.mul(outer, turned.layout.pitch), inner);
  return LaneValue::varying(readScratch(turned, type.getElementType(), at, lanes));
}

Value TileLowering::readVector(Value tile, int64_t axis, Value outer, Value inner) {
  LaneValue value = read(tile, axis, outer, inner);
  return getVector(b, value, lanes);
}

void TileLowering::forEachVector(const TileLayout &layout, Value outerEnd,
                                 function_ref<void(Value, Value)> body) {
  // Few vectors a row are written out.
  constexpr int64_t kWritten = 4;
  int64_t vectors = layout.pitch / lanes;
  auto row = [&](Value outer) {
    int64_t written = vectors <= kWritten       ? vectors
                      : vectors % kWritten == 0 ? kWritten
                      : vectors % 3 == 0        ? 3
                      : vectors % 2 == 0        ? 2
                                                : 1;
    b.loop(b.index(0), b.index(layout.pitch), written * lanes, [&](Value first) {
      for (int64_t v = 0; v < written; ++v)
        body(outer, b.add(first, v * lanes));
    });
  };
  b.loop(b.index(0), outerEnd, 1, row);
}

//===-- Memory -------------------------------------------------------------------------------===//

Scratch TileLowering::loadToScratch(LoadOp load, int64_t axis) {
  const ViewMemory view = viewOf(load.getView());
  TileType type = typeOf(load);
  TileLayout layout = layoutOf(load);
  if (layout.axis != axis) {
    layout.axis = axis;
    std::swap(layout.outer, layout.inner);
    layout.pitch = llvm::alignTo(layout.inner, lanes);
  }
  Type element = type.getElementType();
  Scratch scratch{allocate(element, layout), layout};
  Value validOuter = validAlong(load, 1 - axis), validInner = validAlong(load, axis);
  Value outerEnd = validOuter ? validOuter : b.index(layout.outer);
  Value innerEnd = validInner ? validInner : b.index(layout.inner);
  Value first[2] = {load.getRow(), load.getColumn()};
  auto placeOf = [&](Value outer, Value inner) {
    Value at[2];
    at[axis] = b.add(first[axis], inner);
    at[1 - axis] = b.add(first[1 - axis], outer);
    return view.place(b, at[0], at[1]);
  };
  bool bits = element.isInteger(1);
  if (view.isUnit(axis) && !bits) {
    // Lanes as they lie.
    auto rows = [&](bool whole) {
      forEachVector(layout, outerEnd, [&](Value outer, Value inner) {
        Value place = placeOf(outer, inner), loaded;
        std::optional<int64_t> at = getConstant(inner);
        if (whole && at && *at + lanes <= layout.inner)
          loaded = b.load(element, view.flat, place, lanes);
        else
          loaded =
              b.loadMasked(element, view.flat, place, b.lanesBelow(b.sub(innerEnd, inner), lanes));
        write(scratch, outer, inner, loaded);
      });
    };
    if (!validInner)
      rows(true);
    else
      b.when(
          arith::CmpIOp::create(b, arith::CmpIPredicate::eq, innerEnd, b.index(layout.inner)),
          [&] { rows(true); }, [&] { rows(false); });
    return scratch;
  }
  if (view.isUnit(1 - axis) && !bits && element.getIntOrFloatBitWidth() <= 32) {
    // Lanes are rows of memory: squares of vectors are turned.
    b.loop(b.index(0), b.index(layout.pitch), lanes, [&](Value inner) {
      b.loop(b.index(0), b.index(llvm::alignTo(layout.outer, lanes)), lanes, [&](Value outer) {
        Value mask;
        if (validOuter || layout.outer % lanes != 0)
          mask = b.lanesBelow(b.sub(outerEnd, outer), lanes);
        SmallVector<Value> rows;
        for (int64_t i = 0; i < lanes; ++i) {
          Value last = b.maximum(b.sub(innerEnd, b.index(1)), b.index(0));
          Value place = placeOf(outer, b.minimum(b.add(inner, i), last));
          rows.push_back(mask ? b.loadMasked(element, view.flat, place, mask)
                              : b.load(element, view.flat, place, lanes));
        }
        rows = b.transpose(rows);
        for (int64_t i = 0; i < lanes; ++i) {
          // Vectors past the last row would fall into the next buffer.
          if (layout.outer % lanes == 0) {
            write(scratch, b.add(outer, i), inner, rows[i]);
            continue;
          }
          Value place = b.add(outer, i);
          b.when(arith::CmpIOp::create(b, arith::CmpIPredicate::slt, place, b.index(layout.outer)),
                 [&] { write(scratch, place, inner, rows[i]); });
        }
      });
    });
    return scratch;
  }
  b.loop(b.index(0), outerEnd, 1, [&](Value outer) {
    b.loop(b.index(0), innerEnd, 1, [&](Value inner) {
      Value value = memref::LoadOp::create(b, view.flat, placeOf(outer, inner));
      if (bits)
        value = arith::ExtUIOp::create(b, b.getI8Type(), value);
      memref::StoreOp::create(b, value, scratch.memory, b.add(b.mul(outer, layout.pitch), inner));
    });
  });
  return scratch;
}

LogicalResult TileLowering::lowerStore(StoreOp store) {
  const ViewMemory view = viewOf(store.getView());
  Value tile = store.getTile();
  TileLayout layout = layoutOf(tile);
  int64_t axis = layout.axis;
  Value first[2] = {store.getRow(), store.getColumn()};
  Type element = typeOf(tile).getElementType();
  // How much of the tile is inside.
  auto inside = [&](int64_t a) -> Value {
    int64_t size = typeOf(tile).getSize(a);
    std::optional<int64_t> offset = getConstant(first[a]), extent = getConstant(view.extent[a]);
    if (offset && extent && *offset + size <= *extent)
      return {};
    Value rest = b.maximum(b.sub(view.extent[a], first[a]), b.index(0));
    return b.minimum(rest, b.index(size));
  };
  Value limitOuter = inside(1 - axis), limitInner = inside(axis);
  Value outerEnd = limitOuter ? limitOuter : b.index(layout.outer);
  Value innerEnd = limitInner ? limitInner : b.index(layout.inner);
  if (Value known = validAlong(tile, 1 - axis))
    outerEnd = b.minimum(outerEnd, known);
  auto placeOf = [&](Value outer, Value inner) {
    Value at[2];
    at[axis] = b.add(first[axis], inner);
    at[1 - axis] = b.add(first[1 - axis], outer);
    return view.place(b, at[0], at[1]);
  };
  bool bits = element.isInteger(1);
  if (view.isUnit(axis) && !bits) {
    auto rows = [&](bool whole) {
      forEachVector(layout, outerEnd, [&](Value outer, Value inner) {
        Value vector = readVector(tile, axis, outer, inner);
        Value place = placeOf(outer, inner);
        std::optional<int64_t> at = getConstant(inner);
        if (whole && (layout.inner % lanes == 0 || (at && *at + lanes <= layout.inner)))
          b.store(vector, view.flat, place);
        else
          b.storeMasked(vector, view.flat, place, b.lanesBelow(b.sub(innerEnd, inner), lanes));
      });
    };
    if (!limitInner)
      rows(true);
    else
      b.when(
          arith::CmpIOp::create(b, arith::CmpIPredicate::eq, innerEnd, b.index(layout.inner)),
          [&] { rows(true); }, [&] { rows(false); });
    return success();
  }
  Scratch scratch = materialize(tile);
  if (view.isUnit(1 - axis) && !bits && element.getIntOrFloatBitWidth() <= 32 && layout.inner > 1) {
    b.loop(b.index(0), innerEnd, lanes, [&](Value inner) {
      b.loop(b.index(0), outerEnd, lanes, [&](Value outer) {
        SmallVector<Value> rows;
        for (int64_t i = 0; i < lanes; ++i)
          rows.push_back(readVector(tile, axis, b.add(outer, i), inner));
        rows = b.transpose(rows);
        Value mask;
        if (limitOuter || layout.outer % lanes != 0 || validAlong(tile, 1 - axis))
          mask = b.lanesBelow(b.sub(outerEnd, outer), lanes);
        auto stores = [&](bool whole) {
          for (int64_t i = 0; i < lanes; ++i) {
            Value at = b.add(inner, i);
            auto put = [&] {
              Value place = placeOf(outer, at);
              if (mask)
                b.storeMasked(rows[i], view.flat, place, mask);
              else
                b.store(rows[i], view.flat, place);
            };
            if (whole)
              put();
            else
              b.when(arith::CmpIOp::create(b, arith::CmpIPredicate::slt, at, innerEnd), put);
          }
        };
        if (!limitInner && layout.inner % lanes == 0)
          stores(true);
        else
          b.when(
              arith::CmpIOp::create(b, arith::CmpIPredicate::sle, b.add(inner, lanes), innerEnd),
              [&] { stores(true); }, [&] { stores(false); });
      });
    });
    return success();
  }
  b.loop(b.index(0), outerEnd, 1, [&](Value outer) {
    b.loop(b.index(0), innerEnd, 1, [&](Value inner) {
      Value at = b.add(b.mul(outer, layout.pitch), inner);
      Value value = readScratch(scratch, element, at, 1);
      memref::StoreOp::create(b, value, view.flat, placeOf(outer, inner));
    });
  });
  return success();
}

void TileLowering::lowerGather(GatherOp gather) {
  const ViewMemory view = viewOf(gather.getView());
  Scratch ids = materialize(gather.getRows());
  TileLayout layout = layoutOf(gather);
  Type element = typeOf(gather).getElementType();
  Scratch scratch = resultScratch(gather, std::nullopt);
  int64_t rows = typeOf(gather).getRows(), columns = typeOf(gather).getColumns();
  std::optional<int64_t> column = getConstant(gather.getColumn()),
                         extent = getConstant(view.extent[1]);
  bool whole = layout.axis == 1 && view.isUnit(1) && column && extent &&
               *column + layout.pitch <= *extent && !element.isInteger(1);
  Value end = b.minimum(b.sub(view.extent[1], gather.getColumn()), b.index(columns));
  b.loop(b.index(0), b.index(rows), 1, [&](Value r) {
    Value id =
        arith::IndexCastOp::create(b, b.getIndexType(), memref::LoadOp::create(b, ids.memory, r));
    Value inside = arith::CmpIOp::create(b, arith::CmpIPredicate::ult, id, view.extent[0]);
    id = arith::SelectOp::create(b, inside, id, b.index(0));
    if (whole) {
      b.loop(b.index(0), b.index(layout.pitch), lanes, [&](Value c) {
        Value place = view.place(b, id, b.add(gather.getColumn(), c));
        write(scratch, r, c, b.load(element, view.flat, place, lanes));
      });
      return;
    }
    b.loop(b.index(0), end, 1, [&](Value c) {
      Value place = view.place(b, id, b.add(gather.getColumn(), c));
      Value value = memref::LoadOp::create(b, view.flat, place);
      if (element.isInteger(1))
        value = arith::ExtUIOp::create(b, b.getI8Type(), value);
      Value at =
          layout.axis == 1 ? b.add(b.mul(r, layout.pitch), c) : b.add(b.mul(c, layout.pitch), r);
      memref::StoreOp::create(b, value, scratch.memory, at);
    });
  });
}

//===-- Products -----------------------------------------------------------------------------===//

LogicalResult TileLowering::lowerDot(DotOp dot) {
  TileType type = dot.getResult().getType();
  TileLayout layout = layoutOf(dot.getResult());
  // Which operand lies in lanes, and along which of its axes; the other's elements are broadcast.
  bool swapped = layout.axis == 0;
  int64_t bAxis = dot.getTransposeB() ? 0 : 1;
  Value laneTile = swapped ? dot.getA() : dot.getB();
  Value otherTile = swapped ? dot.getB() : dot.getA();
  int64_t laneAxis = swapped ? 0 : bAxis, otherAxis = swapped ? bAxis : 0;

  DotBlock block;
  block.sum = type.getElementType();
  block.lanes = lanes;

  // The lanes' operand: as it lies, or turned into a buffer.
  LaneOperand &lane = block.lane;
  lane.type = typeOf(laneTile).getElementType();
  auto laneLoad = laneTile.getDefiningOp<LoadOp>();
  std::function<Value(Value)> laneStart; // of the vector at an inner index, for k = 0
  if (laneLoad && viewOf(laneLoad.getView()).panel != 0 && laneAxis == 0 &&
      viewOf(laneLoad.getView()).panel % lanes == 0 &&
      isMultipleOf(laneLoad.getRow(), viewOf(laneLoad.getView()).panel) &&
      getConstant(laneLoad.getColumn()) == 0) {
    const ViewMemory view = viewOf(laneLoad.getView());
    lane.memory = view.flat;
    lane.interleave = view.interleave;
    lane.stride = b.index(view.panel * view.interleave);
    lane.alignment = std::min<int64_t>(
        64, lanes * view.interleave * llvm::divideCeil(lane.type.getIntOrFloatBitWidth(), 8));
    lane.streams = true;
    laneStart = [&, view](Value inner) {
      // Panels past the last are computed as the last, and not stored.
      Value row = b.add(laneLoad.getRow(), inner);
      Value panel = b.minimum(b.div(row, view.panel), b.index(view.panels - 1));
      return b.add(b.mul(panel, view.panelStride),
                   b.mul(b.rem(inner, view.panel), view.interleave));
    };
  } else if (laneLoad && isDirect(laneLoad, laneAxis)) {
    const ViewMemory view = viewOf(laneLoad.getView());
    lane.memory = view.flat;
    lane.stride = view.stride[1 - laneAxis];
    laneStart = [&, view](Value inner) {
      Value at[2] = {laneLoad.getRow(), laneLoad.getColumn()};
      at[laneAxis] = b.add(at[laneAxis], inner);
      return view.place(b, at[0], at[1]);
    };
  } else {
    Scratch scratch = materialize(laneTile, laneAxis);
    lane.memory = scratch.memory;
    lane.stride = b.index(scratch.layout.pitch);
    lane.alignment =
        std::min<int64_t>(64, lanes * llvm::divideCeil(lane.type.getIntOrFloatBitWidth(), 8));
    laneStart = [](Value inner) { return inner; };
  }

  int64_t rows = 4, columns = 4 * lanes;
  if (std::optional<ArrayRef<int64_t>> given = dot.getBlock()) {
    rows = (*given)[0];
    columns = llvm::alignTo((*given)[1], lanes);
  }
  rows = std::min({rows, layout.outer, kMaxBlockRows});
  columns = std::min(columns, layout.pitch);

  // The other operand.
  BroadcastOperand &other = block.broadcast;
  other.type = typeOf(otherTile).getElementType();
  std::function<Value(Value)> otherStart; // of the outer index, for k = 0
  auto otherLoad = otherTile.getDefiningOp<LoadOp>();
  if (otherLoad && viewOf(otherLoad.getView()).panel == 0) {
    const ViewMemory view = viewOf(otherLoad.getView());
    other.memory = view.flat;
    other.stride = view.stride[1 - otherAxis];
    Value known = validAlong(otherTile, otherAxis);
    otherStart = [&, view, known](Value outer) {
      // Rows past the end are computed as the last, and not stored.
      if (known)
        outer = b.minimum(outer, b.sub(known, b.index(1)));
      else if (layout.outer % rows != 0)
        outer = b.minimum(outer, b.index(layout.outer - 1));
      Value at[2] = {otherLoad.getRow(), otherLoad.getColumn()};
      at[otherAxis] = b.add(at[otherAxis], outer);
      return view.place(b, at[0], at[1]);
    };
  } else {
    Scratch scratch = materialize(otherTile);
    other.memory = scratch.memory;
    bool along = scratch.layout.axis == otherAxis; // outer indices are neighbours
    other.stride = b.index(along ? scratch.layout.pitch : 1);
    int64_t step = along ? 1 : scratch.layout.pitch;
    otherStart = [&, step](Value outer) { return b.mul(outer, step); };
  }

  // How deep: as far as both operands are there.
  Value depth = b.index(typeOf(dot.getA()).getColumns());
  for (auto [tile, axis] : {std::pair(laneTile, 1 - laneAxis), std::pair(otherTile, 1 - otherAxis)})
    if (Value known = validAlong(tile, axis))
      depth = b.minimum(depth, known);
  block.depth = depth;

  std::optional<Scratch> donor = findDonor(dot.getAcc(), dot, type);
  Scratch result = resultScratch(dot.getResult(), donor);
  Value outerEnd = endAlong(dot.getResult(), 1 - layout.axis);
  bool failedAtom = false;
  auto blocks = [&](Value inner, int64_t vectors) {
    lane.vectors.clear();
    for (int64_t v = 0; v < vectors; ++v)
      lane.vectors.push_back(laneStart(b.add(inner, v * lanes)));
    b.loop(b.index(0), outerEnd, rows, [&](Value outer) {
      other.rows.clear();
      SmallVector<Value> acc;
      for (int64_t r = 0; r < rows; ++r) {
        other.rows.push_back(otherStart(b.add(outer, r)));
        for (int64_t v = 0; v < vectors; ++v)
          acc.push_back(dot.getAcc() ? readVector(dot.getAcc(), layout.axis, b.add(outer, r),
                                                  b.add(inner, v * lanes))
                                     : b.zero(VectorType::get(lanes, block.sum)));
      }
      const DotAtom *const *atom =
          llvm::find_if(atoms, [&](const DotAtom *a) { return a->supports(block); });
      if (atom == atoms.end()) {
        failedAtom = true;
        return;
      }
      acc = (*atom)->emit(b, block, acc);
      for (int64_t r = 0; r < rows; ++r)
        for (int64_t v = 0; v < vectors; ++v)
          write(result, b.add(outer, r), b.add(inner, v * lanes), acc[r * vectors + v]);
    });
  };
  int64_t whole = layout.pitch / columns * columns;
  b.loop(b.index(0), b.index(whole), columns, [&](Value inner) { blocks(inner, columns / lanes); });
  if (whole != layout.pitch)
    blocks(b.index(whole), (layout.pitch - whole) / lanes);
  if (failedAtom)
    return dot.emitOpError("has elements that no product of this target computes");
  return success();
}

//===-- Reductions, casts --------------------------------------------------------------------===//

void TileLowering::lowerReduce(ReduceOp reduce) {
  Value input = reduce.getInput();
  TileLayout layout = layoutOf(input);
  Type element = typeOf(input).getElementType();
  auto vectorType = VectorType::get(lanes, element);
  bool sum = reduce.getKind() == ReduceKind::Sum;
  auto fast = arith::FastMathFlags::reassoc | arith::FastMathFlags::contract;
  TypedAttr identity = sum ? b.getFloatAttr(element, 0.0)
                           : b.getFloatAttr(element, -std::numeric_limits<double>::infinity());
  Value start =
      arith::ConstantOp::create(b, DenseElementsAttr::get(vectorType, Attribute(identity)));
  auto join = [&](Value l, Value r) -> Value {
    return sum ? Value(arith::AddFOp::create(b, l, r, fast)) : b.maximumNumber(r, l);
  };
  Scratch result = resultScratch(reduce, std::nullopt);
  Value outerEnd = endAlong(input, 1 - layout.axis);
  int64_t vectors = layout.pitch / lanes;

  if (static_cast<int64_t>(reduce.getAxis()) != layout.axis) {
    // Down the rows: lanes stay apart. The result lies like a row of the input, or is one element.
    constexpr int64_t kAtOnce = 8;
    for (int64_t v = 0; v < vectors; v += kAtOnce) {
      int64_t count = std::min(kAtOnce, vectors - v);
      SmallVector<Value> carried(count, start);
      carried = b.loop(b.index(0), outerEnd, 1, carried, [&](Value outer, ValueRange before) {
        SmallVector<Value> next;
        for (int64_t i = 0; i < count; ++i)
          next.push_back(
              join(before[i], readVector(input, layout.axis, outer, b.index((v + i) * lanes))));
        return next;
      });
      for (int64_t i = 0; i < count; ++i)
        write(result, b.index(0), b.index((v + i) * lanes), carried[i]);
    }
    return;
  }
  // Along the lanes: several partial vectors, then one horizontal step a row.
  int64_t chains = vectors % 4 == 0 ? 4 : vectors % 3 == 0 ? 3 : vectors % 2 == 0 ? 2 : 1;
  int64_t tail = layout.inner % lanes;
  b.loop(b.index(0), outerEnd, 1, [&](Value outer) {
    SmallVector<Value> carried(chains, start);
    auto element = [&](Value inner) { return readVector(input, layout.axis, outer, inner); };
    int64_t whole = tail == 0 ? vectors : vectors - 1;
    if (tail != 0)
      chains = 1, carried.resize(1);
    carried = b.loop(b.index(0), b.index(whole * lanes), chains * lanes, carried,
                     [&](Value inner, ValueRange before) {
                       SmallVector<Value> next;
                       for (int64_t i = 0; i < chains; ++i)
                         next.push_back(join(before[i], element(b.add(inner, i * lanes))));
                       return next;
                     });
    Value all = carried[0];
    for (int64_t i = 1; i < chains; ++i)
      all = join(all, carried[i]);
    if (tail != 0) {
      Value mask = b.lanesBelow(b.index(tail), lanes);
      Value last = arith::SelectOp::create(b, mask, element(b.index(whole * lanes)), start);
      all = join(all, last);
    }
    Value one = sum ? Value(vector::ReductionOp::create(b, vector::CombiningKind::ADD, all, fast))
                    : Value(vector::ReductionOp::create(b, vector::CombiningKind::MAXNUMF, all,
                                                        arith::FastMathFlags::nnan));
    Value at = result.layout.axis == layout.axis ? b.mul(outer, result.layout.pitch) : outer;
    memref::StoreOp::create(b, one, result.memory, at);
  });
}

void TileLowering::lowerCast(CastOp cast) {
  TileLayout layout = layoutOf(cast.getResult());
  Type element = typeOf(cast).getElementType();
  Scratch result = resultScratch(cast.getResult(), std::nullopt);
  Value outerEnd = endAlong(cast.getResult(), 1 - layout.axis);
  forEachVector(layout, outerEnd, [&](Value outer, Value inner) {
    Value vector = readVector(cast.getInput(), layout.axis, outer, inner);
    write(result, outer, inner, b.convert(vector, element));
  });
}

//===-- Control ------------------------------------------------------------------------------===//

LogicalResult TileLowering::lowerLoop(scf::ForOp loop) {
  SmallVector<std::pair<unsigned, Scratch>> carried;
  for (auto [i, init] : llvm::enumerate(loop.getInitArgs())) {
    if (!isa<TileType>(init.getType()))
      continue;
    TileLayout layout = layoutOf(init);
    b.setInsertionPoint(loop);
    std::optional<Scratch> donor;
    if (!isLazy(init))
      donor = findDonor(init, loop, typeOf(init));
    Scratch scratch =
        donor ? *donor : Scratch{allocate(typeOf(init).getElementType(), layout), layout};
    if (!donor)
      copy(init, scratch);
    buffers.try_emplace({loop.getRegionIterArg(i), layout.axis}, scratch);
    buffers.try_emplace({loop.getResult(i), layout.axis}, scratch);
    carried.push_back({static_cast<unsigned>(i), scratch});
  }
  if (failed(lowerBlock(*loop.getBody())))
    return failure();
  // What is yielded goes to the loop's buffers. All is computed before anything is overwritten.
  auto yield = cast<scf::YieldOp>(loop.getBody()->getTerminator());
  b.setInsertionPoint(yield);
  SmallVector<std::pair<Value, Scratch>> copies;
  for (auto [i, scratch] : carried) {
    Value next = yield.getOperand(i);
    auto found = buffers.find({next, scratch.layout.axis});
    if (found != buffers.end() && found->second.memory == scratch.memory)
      continue;
    bool isArgument =
        isa<BlockArgument>(next) && cast<BlockArgument>(next).getOwner() == loop.getBody();
    if (isArgument) {
      // Another argument's buffer, which may be overwritten first.
      Scratch saved{allocate(typeOf(next).getElementType(), scratch.layout), scratch.layout};
      copy(next, saved);
      copies.push_back({Value(), saved});
    } else {
      materialize(next);
      copies.push_back({next, scratch});
    }
  }
  b.setInsertionPoint(yield);
  unsigned at = 0;
  for (auto [i, scratch] : carried) {
    Value next = yield.getOperand(i);
    auto found = buffers.find({next, scratch.layout.axis});
    if (found != buffers.end() && found->second.memory == scratch.memory)
      continue;
    auto [value, saved] = copies[at++];
    if (value) {
      copy(value, scratch);
      continue;
    }
    forEachVector(scratch.layout, b.index(scratch.layout.outer),
                  [&, saved = saved, scratch = scratch](Value outer, Value inner) {
                    Value place = b.add(b.mul(outer, saved.layout.pitch), inner);
                    Value vector = b.load(cast<MemRefType>(saved.memory.getType()).getElementType(),
                                          saved.memory, place, lanes);
                    b.store(vector, scratch.memory, place);
                  });
  }
  return success();
}

LogicalResult TileLowering::lowerBranch(scf::IfOp branch) {
  SmallVector<std::pair<unsigned, Scratch>> results;
  for (auto [i, result] : llvm::enumerate(branch.getResults())) {
    if (!isa<TileType>(result.getType()))
      continue;
    TileLayout layout = layoutOf(result);
    Scratch scratch{allocate(typeOf(result).getElementType(), layout), layout};
    buffers.try_emplace({result, layout.axis}, scratch);
    results.push_back({static_cast<unsigned>(i), scratch});
  }
  for (Region *region : branch->getRegions().size() ? SmallVector<Region *>{&branch.getThenRegion(),
                                                                            &branch.getElseRegion()}
                                                    : SmallVector<Region *>{}) {
    if (region->empty())
      continue;
    if (failed(lowerBlock(region->front())))
      return failure();
    auto yield = cast<scf::YieldOp>(region->front().getTerminator());
    b.setInsertionPoint(yield);
    for (auto [i, scratch] : results)
      copy(yield.getOperand(i), scratch);
  }
  return success();
}

LogicalResult TileLowering::lowerBlock(Block &block) {
  for (Operation &op : llvm::make_early_inc_range(block.without_terminator())) {
    b.setInsertionPoint(&op);
    b.setLoc(op.getLoc());
    if (auto loop = dyn_cast<scf::ForOp>(op)) {
      if (failed(lowerLoop(loop)))
        return failure();
    } else if (auto branch = dyn_cast<scf::IfOp>(op)) {
      if (failed(lowerBranch(branch)))
        return failure();
    } else if (isa<TileDialect>(op.getDialect())) {
      tileOps.push_back(&op);
      if (auto dot = dyn_cast<DotOp>(op)) {
        if (failed(lowerDot(dot)))
          return failure();
      } else if (auto store = dyn_cast<StoreOp>(op)) {
        if (failed(lowerStore(store)))
          return failure();
      } else if (auto reduce = dyn_cast<ReduceOp>(op)) {
        lowerReduce(reduce);
      } else if (auto gather = dyn_cast<GatherOp>(op)) {
        lowerGather(gather);
      } else if (auto cast = dyn_cast<CastOp>(op)) {
        lowerCast(cast);
      } else if (auto map = dyn_cast<MapOp>(op)) {
        if (isLazy(map))
          continue;
        std::optional<Scratch> donor;
        for (Value input : map.getInputs())
          if (!donor)
            donor = findDonor(input, map, map.getResult().getType());
        TileLayout layout = layoutOf(map);
        // Not known to `read` before it is complete.
        Scratch result =
            donor ? *donor
                  : Scratch{allocate(map.getResult().getType().getElementType(), layout), layout};
        Value end = endAlong(map, 1 - layout.axis);
        b.setInsertionPoint(&op);
        forEachVector(layout, end, [&](Value outer, Value inner) {
          SmallVector<LaneValue> arguments;
          for (Value input : map.getInputs())
            arguments.push_back(read(input, layout.axis, outer, inner));
          LaneValue element = emitRegion(b, map.getBody(), arguments, lanes);
          write(result, outer, inner, getVector(b, element, lanes));
        });
        buffers.try_emplace({map.getResult(), layout.axis}, result);
      }
    } else if (op.getNumRegions() != 0 && llvm::any_of(op.getRegions(), [](Region &region) {
                 return region
                     .walk([](Operation *inner) {
                       return isa<TileDialect>(inner->getDialect()) ? WalkResult::interrupt()
                                                                    : WalkResult::advance();
                     })
                     .wasInterrupted();
               })) {
      return op.emitOpError("holds tiles, and is neither scf.for nor scf.if");
    }
  }
  return success();
}

//===-- The whole ----------------------------------------------------------------------------===//

/// A loop or branch without the tiles that it carried.
static void dropTiles(Operation *op) {
  // What another loop carried is already gone.
  auto isTile = [](Value value) { return !value || isa<TileType>(value.getType()); };
  if (llvm::none_of(op->getResults(), isTile))
    return;
  for (Region &region : op->getRegions()) {
    if (region.empty())
      continue;
    Operation *yield = region.front().getTerminator();
    SmallVector<Value> kept;
    llvm::copy_if(yield->getOperands(), std::back_inserter(kept),
                  [&](Value value) { return !isTile(value); });
    yield->setOperands(kept);
  }
  OpBuilder builder(op);
  SmallVector<Type> types;
  for (Value result : op->getResults())
    if (!isTile(result))
      types.push_back(result.getType());
  Operation *fresh;
  if (auto loop = dyn_cast<scf::ForOp>(op)) {
    SmallVector<Value> inits;
    llvm::copy_if(loop.getInitArgs(), std::back_inserter(inits),
                  [&](Value value) { return !isTile(value); });
    auto next = scf::ForOp::create(builder, op->getLoc(), loop.getLowerBound(),
                                   loop.getUpperBound(), loop.getStep(), inits);
    Block *body = loop.getBody();
    for (unsigned i = body->getNumArguments(); i-- > 0;) {
      BlockArgument argument = body->getArgument(i);
      if (isTile(argument)) {
        argument.dropAllUses();
        body->eraseArgument(i);
      }
    }
    next.getRegion().takeBody(loop.getRegion());
    fresh = next;
  } else {
    auto branch = cast<scf::IfOp>(op);
    auto next = scf::IfOp::create(builder, op->getLoc(), types, branch.getCondition(),
                                  /*addThenBlock=*/false, /*addElseBlock=*/false);
    next.getThenRegion().takeBody(branch.getThenRegion());
    next.getElseRegion().takeBody(branch.getElseRegion());
    fresh = next;
  }
  unsigned i = 0;
  for (OpResult result : op->getResults()) {
    if (isTile(result))
      result.dropAllUses();
    else
      result.replaceAllUsesWith(fresh->getResult(i++));
  }
  op->erase();
}

void TileLowering::eraseTiles() {
  SmallVector<Operation *> control;
  function.walk([&](Operation *op) {
    if (isa<scf::ForOp, scf::IfOp>(op))
      control.push_back(op);
  });
  llvm::for_each(control, dropTiles); // inner ones first
  for (Operation *op : tileOps) {
    op->dropAllUses();
    op->erase();
  }
  SmallVector<Operation *> views;
  function.walk([&](Operation *op) {
    if (isa<ViewOp, PackedOp>(op))
      views.push_back(op);
  });
  for (Operation *op : views) {
    op->dropAllUses();
    op->erase();
  }
}

void TileLowering::lowerKernel(KernelOp kernel) {
  b.setInsertionPoint(kernel);
  b.setLoc(kernel.getLoc());
  SmallVector<Value> lower(kernel.getExtents().size(), b.index(0)),
      step(kernel.getExtents().size(), b.index(1));
  auto parallel = scf::ParallelOp::create(b, lower, kernel.getExtents(), step);
  Block &body = kernel.getBody().front(), *target = parallel.getBody();
  body.getTerminator()->erase();
  for (auto [from, to] : llvm::zip(body.getArguments(), target->getArguments()))
    from.replaceAllUsesWith(to);
  target->getOperations().splice(Block::iterator(target->getTerminator()), body.getOperations());
  kernel.erase();
}

LogicalResult TileLowering::run() {
  SmallVector<KernelOp> kernels(function.getOps<KernelOp>());
  for (KernelOp kernel : kernels)
    lowerKernel(kernel);
  for (auto parallel : function.getOps<scf::ParallelOp>())
    if (failed(lowerBlock(*parallel.getBody())))
      return failure();
  eraseTiles();
  return success();
}

namespace {
struct TileToVectorsPass : fovea::impl::TileToVectorsPassBase<TileToVectorsPass> {
  using TileToVectorsPassBase::TileToVectorsPassBase;

  void runOnOperation() override {
    func::FuncOp function = getOperation();
    if (function.isExternal() || function.getOps<KernelOp>().empty())
      return;
    int64_t width = level == "avx512" ? 16 : level == "avx2" ? 8 : level == "sse" ? 4 : 0;
    if (width == 0) {
      function.emitError("expects a level of vectors, avx512, avx2 or sse, got '") << level << "'";
      return signalPassFailure();
    }
    TileLowering lowering(function, width, getDotAtoms(level));
    if (failed(lowering.run()))
      return signalPassFailure();
    ++numKernels;
  }
};
} // namespace
