// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Where tiles live, and how their elements are had: from a buffer, from memory, or computed.
#include "lowering/CPU/TileLowering.h"
#include "mlir/Interfaces/SideEffectInterfaces.h"

using namespace mlir;
using namespace mlir::fovea;
using namespace mlir::fovea::tile;

//===-- Buffers ------------------------------------------------------------------------------===//

Value TileLowering::allocate(Type element, const TileLayout &layout) {
  // Register blocks may reach past the last row, and vectors past the last element of a column.
  // So may squares of vectors that are turned.
  int64_t rows = layout.outer + std::min<int64_t>(layout.outer, kMaxBlockRows) - 1;
  if (layout.outer > 1)
    rows = std::max<int64_t>(rows, llvm::alignTo(layout.outer, lanes));
  int64_t count = rows * layout.pitch + 16;
  OpBuilder::InsertionGuard guard(b);
  b.setInsertionPointToStart(&function.getBody().front());
  auto type = MemRefType::get(count, storageType(element));
  return memref::AllocaOp::create(b, type, b.getI64IntegerAttr(64));
}

Type TileLowering::storageType(Type element) {
  if (element.isInteger(1))
    return b.getI8Type();
  return isa<FloatType>(element) && element.getIntOrFloatBitWidth() == 16 ? Type(b.getI16Type())
                                                                          : element;
}

/// `like` with other elements, if it is a vector.
static Type withElement(Type like, Type element) {
  if (auto vector = dyn_cast<VectorType>(like))
    return vector.clone(element);
  return element;
}

Value TileLowering::toStorage(Value value) {
  Type element = getElementTypeOrSelf(value.getType()), storage = storageType(element);
  if (storage == element)
    return value;
  Type type = withElement(value.getType(), storage);
  if (element.isInteger(1))
    return arith::ExtUIOp::create(b, type, value);
  return arith::BitcastOp::create(b, type, value);
}

Value TileLowering::fromStorage(Value stored, Type element) {
  if (storageType(element) == element)
    return stored;
  if (element.isInteger(1))
    return arith::CmpIOp::create(b, arith::CmpIPredicate::ne, stored, b.zero(stored.getType()));
  return arith::BitcastOp::create(b, withElement(stored.getType(), element), stored);
}

bool TileLowering::isLazy(Value tile) {
  Operation *op = tile.getDefiningOp();
  if (!op)
    return false;
  auto readOnceIn = [&](Operation *user) {
    return user->getBlock() == op->getBlock() && isa<MapOp, ReduceOp, StoreOp>(user);
  };
  if (isa<SplatOp, BroadcastOp, IotaOp>(op))
    return true;
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
  forEachVector(to.layout, endAlong(from, 1 - to.layout.axis), [&](Value outer, Value inner) {
    write(to, outer, inner, readVector(from, to.layout.axis, outer, inner));
  });
}

void TileLowering::clear(const Scratch &scratch, Type element, Value first) {
  Value zero = b.zero(VectorType::get(lanes, element));
  forEachVector(
      scratch.layout, b.sub(b.index(scratch.layout.outer), first),
      [&](Value outer, Value inner) { write(scratch, b.add(first, outer), inner, zero); });
}

void TileLowering::clearUnlessWhole(const Scratch &scratch, Type element, Value end) {
  if (getConstant(end) != scratch.layout.pitch)
    clear(scratch, element, b.index(0));
}

void TileLowering::fillRest(Value result, Value yielded, const Scratch &scratch) {
  int64_t axis = 1 - scratch.layout.axis;
  Value end = validAlong(yielded, axis);
  (void)validAlong(result, axis); // says whether it is to be filled
  if (end && filled.contains({result, axis}))
    clear(scratch, typeOf(result).getElementType(), end);
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
    // The other way round: squares of vectors are turned. Buffers have room for whole ones.
    Scratch source = materialize(tile);
    result.layout = layout.turned(lanes);
    Type element = typeOf(tile).getElementType();
    result.memory = allocate(element, result.layout);
    Value end = endAlong(tile, 1 - layout.axis);
    if (storageType(element).getIntOrFloatBitWidth() == 32 && layout.outer > 1 &&
        layout.inner > 1) {
      b.loop(b.index(0), b.index(layout.outer), lanes, [&](Value outer) {
        b.loop(b.index(0), b.index(layout.pitch), lanes, [&](Value inner) {
          // Rows past the end become lanes, which are computed: they are copies of the last row.
          Value last = b.maximum(b.sub(end, b.index(1)), b.index(0));
          SmallVector<Value> rows;
          for (int64_t i = 0; i < lanes; ++i) {
            Value row = b.minimum(b.add(outer, i), last);
            rows.push_back(
                readScratch(source, element, b.add(b.mul(row, layout.pitch), inner), lanes));
          }
          rows = b.transpose(rows);
          for (int64_t i = 0; i < lanes; ++i)
            write(result, b.add(inner, i), outer, rows[i]);
        });
      });
    } else {
      clearUnlessWhole(result, element, end);
      b.loop(b.index(0), end, 1, [&](Value outer) {
        b.loop(b.index(0), b.index(layout.inner), 1, [&](Value inner) {
          Value from = b.add(b.mul(outer, layout.pitch), inner);
          Value to = b.add(b.mul(inner, result.layout.pitch), outer);
          Value value = memref::LoadOp::create(b, source.memory, from);
          memref::StoreOp::create(b, value, result.memory, to);
        });
      });
    }
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

bool TileLowering::isDirect(LoadOp load, int64_t axis) {
  const ViewMemory &view = viewOf(load.getView());
  std::optional<int64_t> offset = getConstant(offsetOf(load, axis));
  std::optional<int64_t> extent = getConstant(view.extent[axis]);
  int64_t size = llvm::alignTo(typeOf(load).getSize(axis), lanes);
  return view.isUnit(axis) && offset && extent && *offset + size <= *extent &&
         !typeOf(load).getElementType().isInteger(1);
}

/// Tiles that have as many places along an axis as `tile` at least, with which of their axes that
/// is: those that it is computed of.
static SmallVector<std::pair<Value, int64_t>, 4> getSources(Value tile, int64_t axis) {
  SmallVector<std::pair<Value, int64_t>, 4> sources;
  // What a loop carries, or a branch gives, is one of several.
  auto addYields = [&](Operation *op, unsigned number) {
    for (Region &region : op->getRegions())
      if (!region.empty())
        sources.push_back({region.front().getTerminator()->getOperand(number), axis});
    if (auto loop = dyn_cast<scf::ForOp>(op))
      sources.push_back({loop.getInitArgs()[number], axis});
  };
  if (auto argument = dyn_cast<BlockArgument>(tile)) {
    if (auto loop = dyn_cast<scf::ForOp>(argument.getOwner()->getParentOp()))
      addYields(loop, argument.getArgNumber() - loop.getNumInductionVars());
    return sources;
  }
  auto sizeOf = [&](Value of) { return cast<TileType>(of.getType()).getSize(axis); };
  Operation *op = tile.getDefiningOp();
  if (isa<scf::ForOp, scf::IfOp>(op)) {
    addYields(op, cast<OpResult>(tile).getResultNumber());
  } else if (isa<MapOp, CastOp>(op)) {
    for (Value input : op->getOperands())
      sources.push_back({input, axis});
  } else if (auto dequantize = dyn_cast<DequantizeOp>(op)) {
    sources.push_back({dequantize->getOperand(0), axis});
  } else if (auto broadcast = dyn_cast<BroadcastOp>(op)) {
    if (sizeOf(broadcast.getInput()) == sizeOf(tile))
      sources.push_back({broadcast.getInput(), axis});
  } else if (auto dot = dyn_cast<DotOp>(op)) {
    if (axis == 0)
      sources.push_back({dot.getA(), 0});
    else
      sources.push_back({dot.getB(), dot.getTransposeB() ? 0 : 1});
    if (dot.getAcc())
      sources.push_back({dot.getAcc(), axis});
  } else if (auto reduce = dyn_cast<ReduceOp>(op)) {
    if (static_cast<int64_t>(reduce.getAxis()) != axis)
      sources.push_back({reduce.getInput(), axis});
  } else if (auto gather = dyn_cast<GatherOp>(op)) {
    if (axis == 0)
      sources.push_back({gather.getRows(), 0});
  }
  return sources;
}

/// Whether `value` is known in front of `point`.
static bool isKnownAt(Value value, Operation *point) {
  Operation *around = value.getParentBlock()->findAncestorOpInBlock(*point);
  Operation *op = value.getDefiningOp();
  return around && (!op || op->isBeforeInBlock(around));
}

/// Whether `number` may be computed in front of `point`, even if the block that has it is not run.
static bool isComputableAt(Value number, Operation *point) {
  llvm::SetVector<Operation *> slice;
  return collectSlice(
             number, [&](Value value) { return isKnownAt(value, point); }, slice) &&
         llvm::all_of(slice, [](Operation *op) { return isSpeculatable(op); });
}

/// The loop that a tile is carried or given by; null if it is not.
static scf::ForOp getLoop(Value tile) {
  if (auto argument = dyn_cast<BlockArgument>(tile))
    return dyn_cast<scf::ForOp>(argument.getOwner()->getParentOp());
  return tile.getDefiningOp<scf::ForOp>();
}

Value TileLowering::validAlong(Value tile, int64_t axis) {
  auto found = valid.find({tile, axis});
  if (found != valid.end())
    return found->second;
  // In front of the op, so that it dominates all that is written behind it later.
  Operation *point = tile.getDefiningOp();
  if (auto argument = dyn_cast<BlockArgument>(tile))
    point = argument.getOwner()->getParentOp();
  OpBuilder::InsertionGuard guard(b);
  b.setInsertionPoint(point);
  Value result;
  if (auto load = tile.getDefiningOp<LoadOp>()) {
    result =
        viewOf(load.getView()).inside(b, offsetOf(load, axis), typeOf(tile).getSize(axis), axis);
    return valid[{tile, axis}] = result;
  }
  // The least of all loads that it is computed of. Those of a loop's rounds count if all rounds
  // have them: `at` is the outermost loop that lies between.
  using Source = std::tuple<Value, int64_t, Operation *>;
  SmallVector<Source> open{{tile, axis, point}};
  llvm::DenseSet<Source> seen{open.front()};
  llvm::SetVector<Value> limits;
  while (!open.empty()) {
    auto [next, along, at] = open.pop_back_val();
    if (next.getDefiningOp<LoadOp>()) {
      Value limit = validAlong(next, along);
      if (limit && isComputableAt(limit, at) && isComputableAt(limit, point))
        limits.insert(limit);
      else if (limit)
        filled.insert({tile, axis});
      continue;
    }
    if (scf::ForOp loop = getLoop(next); loop && !at->isAncestor(loop))
      at = loop;
    for (auto [source, alongSource] : getSources(next, along))
      if (seen.insert({source, alongSource, at}).second)
        open.push_back({source, alongSource, at});
  }
  IRMapping mapping;
  for (Value limit : limits) {
    Value here = repeat(b, limit, mapping, [&](Value value) { return isKnownAt(value, point); });
    result = result && result != here ? b.minimum(result, here) : here;
  }
  return valid[{tile, axis}] = result;
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
  return fromStorage(loaded, element);
}

void TileLowering::write(const Scratch &scratch, Value outer, Value inner, Value vector) {
  vector = toStorage(vector);
  unsigned width = cast<VectorType>(vector.getType()).getElementTypeBitWidth();
  int64_t bytes = lanes * llvm::divideCeil(width, 8);
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
      SmallVector<LaneValue> arguments = llvm::map_to_vector(
          map.getInputs(), [&](Value input) { return read(input, axis, outer, inner); });
      return emitRegion(b, map.getBody(), arguments, lanes);
    }
    auto load = cast<LoadOp>(op);
    const ViewMemory &view = viewOf(load.getView());
    if (axis == layoutOf(tile).axis) {
      const Value first[2] = {load.getRow(), load.getColumn()};
      Value place = view.place(b, first, axis, outer, inner);
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
                                 function_ref<void(Value, Value)> body, int64_t written) {
  // Few vectors of a row are written out, and as many as the row is made of.
  int64_t vectors = layout.pitch / lanes;
  while (vectors % written != 0)
    --written;
  b.loop(b.index(0), outerEnd, 1, [&](Value outer) {
    b.loop(b.index(0), b.index(layout.pitch), written * lanes, [&](Value first) {
      for (int64_t v = 0; v < written; ++v)
        body(outer, b.add(first, v * lanes));
    });
  });
}
