// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// The meaning of tile programs, written out as scalar loops: the oracle of every other lowering,
// with which it shares no code. The pass's text says what it refuses.
#include "dialects/ElementTypes.h"
#include "dialects/Fovea/Try.h"
#include "dialects/Tile/ContainsTiles.h"
#include "lowering/Tile/Passes.h"
#include "mlir/Dialect/SCF/IR/SCF.h"
#include "mlir/IR/IRMapping.h"
#include "llvm/ADT/TypeSwitch.h"
#include "llvm/Support/MathExtras.h"

namespace mlir::fovea {
#define GEN_PASS_DEF_TILETOLOOPSPASS
#include "lowering/Tile/Passes.h.inc"
} // namespace mlir::fovea

using namespace mlir;
using namespace mlir::fovea;
using namespace mlir::fovea::tile;

/// Buffers lie on the stack of a thread, of which this much is theirs.
static constexpr int64_t kBuffersLimit = int64_t(4) << 20;

//===-- Scalars ------------------------------------------------------------------------------===//

static Value makeIndex(ImplicitLocOpBuilder &b, int64_t value) {
  return arith::ConstantIndexOp::create(b, value);
}

static Value makeZero(ImplicitLocOpBuilder &b, Type type) {
  return arith::ConstantOp::create(b, b.getZeroAttr(type));
}

/// Another floating-point type; between f64 and the narrow ones by way of f32.
static Value convertFloat(ImplicitLocOpBuilder &b, Value value, Type type) {
  if (value.getType() == type)
    return value;
  unsigned from = value.getType().getIntOrFloatBitWidth(), to = type.getIntOrFloatBitWidth();
  if (from != 32 && to != 32)
    value = convertFloat(b, value, b.getF32Type());
  if (value.getType().getIntOrFloatBitWidth() < to)
    return arith::ExtFOp::create(b, type, value);
  return arith::TruncFOp::create(b, type, value);
}

/// `0 <= index < bound`: as unsigned numbers, negative ones are beyond every bound.
static Value isInside(ImplicitLocOpBuilder &b, Value index, Value bound) {
  return arith::CmpIOp::create(b, arith::CmpIPredicate::ult, index, bound);
}

/// Runs `body` for all `[row, column]` of a tile, row by row.
static void forEach(ImplicitLocOpBuilder &b, TileType type,
                    function_ref<void(Value row, Value column)> body) {
  OpBuilder::InsertionGuard guard(b);
  Value zero = makeIndex(b, 0), one = makeIndex(b, 1);
  auto rows = scf::ForOp::create(b, zero, makeIndex(b, type.getRows()), one);
  b.setInsertionPointToStart(rows.getBody());
  auto columns = scf::ForOp::create(b, zero, makeIndex(b, type.getColumns()), one);
  b.setInsertionPointToStart(columns.getBody());
  body(rows.getInductionVar(), columns.getInductionVar());
}

/// `result = start; for i in [0, count): result = step(i, result)`
static Value fold(ImplicitLocOpBuilder &b, int64_t count, Value start,
                  function_ref<Value(Value i, Value sofar)> step) {
  OpBuilder::InsertionGuard guard(b);
  auto loop = scf::ForOp::create(b, makeIndex(b, 0), makeIndex(b, count), makeIndex(b, 1), start);
  b.setInsertionPointToStart(loop.getBody());
  Value next = step(loop.getInductionVar(), loop.getRegionIterArg(0));
  scf::YieldOp::create(b, next);
  return loop.getResult(0);
}

//===-- Views --------------------------------------------------------------------------------===//

namespace {
/// A matrix in memory: `bounds` are its numbers of rows and columns.
struct View {
  Value memory;
  Value bounds[2];
  SmallVector<Value> at;     ///< indices of the axes that are not the view's
  SmallVector<int64_t> axes; ///< empty for a packed weight
  bool ofNibbles = false;    ///< two neighbours in k share a byte, the first in its low bits
  std::optional<PackedIntegers> units = {}; ///< that only these tell where elements are
};
} // namespace

/// Where element `[row, column]` lies in the view's memory.
static SmallVector<Value> getPlace(ImplicitLocOpBuilder &b, const View &view, Value row,
                                   Value column) {
  auto memory = cast<MemRefType>(view.memory.getType());
  SmallVector<Value> place;
  if (view.ofNibbles)
    column = arith::DivUIOp::create(b, column, makeIndex(b, 2));
  if (view.axes.empty()) { // panels: [n / P, k, n % P] or [n / P, k / I, n % P, k % I]
    bool several = memory.getRank() == 4;
    Value panel = makeIndex(b, memory.getDimSize(2));
    Value interleave = makeIndex(b, several ? memory.getDimSize(3) : 1);
    place.push_back(arith::DivUIOp::create(b, row, panel));
    place.push_back(several ? arith::DivUIOp::create(b, column, interleave) : column);
    place.push_back(arith::RemUIOp::create(b, row, panel));
    if (several)
      place.push_back(arith::RemUIOp::create(b, column, interleave));
    return place;
  }
  size_t next = 0;
  for (int64_t axis = 0; axis < memory.getRank(); ++axis) {
    if (axis == view.axes.back())
      place.push_back(column);
    else if (axis == view.axes.front())
      place.push_back(row);
    else
      place.push_back(view.at[next++]);
  }
  return place;
}

/// Runs `body` where `[row, column]` is inside of the view.
static void ifInside(ImplicitLocOpBuilder &b, const View &view, Value row, Value column,
                     function_ref<void()> body) {
  OpBuilder::InsertionGuard guard(b);
  Value inside = arith::AndIOp::create(b, isInside(b, row, view.bounds[0]),
                                       isInside(b, column, view.bounds[1]));
  auto branch = scf::IfOp::create(b, inside, /*withElseRegion=*/false);
  b.setInsertionPointToStart(branch.thenBlock());
  body();
}

//===-- The lowering -------------------------------------------------------------------------===//

namespace {
/// Writes a function's ops anew into another block, tiles as buffers.
class Lowering {
public:
  Lowering(func::FuncOp function, Block *entry)
      : function(function), b(function.getLoc(), OpBuilder::atBlockEnd(entry)), entry(entry) {
    mapping.map(function.getArguments(), entry->getArguments());
  }

  LogicalResult run() { return lowerBlock(function.getBody().front()); }

  int64_t kernels = 0, buffers = 0;

private:
  /// All ops but the terminators of loops, branches and kernels.
  LogicalResult lowerBlock(Block &block);
  LogicalResult lowerOp(Operation *op);

  LogicalResult lower(KernelOp op);
  LogicalResult lower(scf::ForOp op);
  LogicalResult lower(scf::IfOp op);
  LogicalResult lower(ViewOp op);
  LogicalResult lower(PackedOp op);
  LogicalResult lower(LoadOp op);
  LogicalResult lower(GatherOp op);
  LogicalResult lower(StoreOp op);
  LogicalResult lower(DequantizeOp op);
  LogicalResult lower(DotOp op);
  LogicalResult lower(MapOp op);
  LogicalResult lower(ReduceOp op);
  LogicalResult lower(BroadcastOp op);
  LogicalResult lower(ExtractOp op);
  LogicalResult lower(SplatOp op);
  LogicalResult lower(IotaOp op);
  LogicalResult lower(CastOp op);

  /// The buffer of a tile that has been lowered, or what stands for another value.
  Value get(Value old) { return mapping.lookup(old); }

  /// A row-major buffer, whatever the tile's lanes, at the function's entry.
  FailureOr<Value> makeBuffer(Operation *op, TileType type);
  /// A buffer that stands for the tile `result`.
  FailureOr<Value> define(Operation *op, Value result) {
    FailureOr<Value> buffer = makeBuffer(op, cast<TileType>(result.getType()));
    if (succeeded(buffer))
      mapping.map(result, *buffer);
    return buffer;
  }
  FailureOr<View> getView(Operation *op, Value view);
  /// buffer[row, column] = view[row + ..., column + ...], or zero outside.
  void loadInside(const View &view, Value from, Value fromColumn, Value buffer, Value row,
                  Value column);

  Value read(Value buffer, Value row, Value column) {
    return memref::LoadOp::create(b, buffer, ValueRange{row, column});
  }
  void write(Value value, Value buffer, Value row, Value column) {
    memref::StoreOp::create(b, value, buffer, ValueRange{row, column});
  }
  void copy(TileType type, Value from, Value to) {
    forEach(b, type, [&](Value r, Value c) { write(read(from, r, c), to, r, c); });
  }
  /// A buffer for the tile `result` with what `element` gives at each `[row, column]`.
  LogicalResult fill(Operation *op, TypedValue<TileType> result,
                     function_ref<Value(Value row, Value column)> element) {
    TRY(Value buffer, define(op, result));
    forEach(b, result.getType(), [&](Value r, Value c) { write(element(r, c), buffer, r, c); });
    return success();
  }

  func::FuncOp function;
  ImplicitLocOpBuilder b;
  Block *entry;
  IRMapping mapping; ///< tiles map to their buffers
  llvm::DenseMap<Value, View> views;
  int64_t bytes = 0;
};
} // namespace

FailureOr<Value> Lowering::makeBuffer(Operation *op, TileType type) {
  int64_t width = llvm::divideCeil(type.getElementType().getIntOrFloatBitWidth(), 8);
  // Sizes are positive; whatever is above the limit need not be multiplied out.
  if (type.getRows() > kBuffersLimit || type.getColumns() > kBuffersLimit ||
      type.getRows() * type.getColumns() * width > kBuffersLimit - bytes)
    return op->emitOpError("expects a function's tiles to fit into ")
           << kBuffersLimit << " bytes together, got one of " << type << " after " << bytes;
  bytes += type.getRows() * type.getColumns() * width;
  ++buffers;
  OpBuilder::InsertionGuard guard(b);
  b.setInsertionPointToStart(entry);
  return memref::AllocaOp::create(
             b, MemRefType::get({type.getRows(), type.getColumns()}, type.getElementType()),
             ValueRange{}, b.getI64IntegerAttr(64))
      .getResult();
}

FailureOr<View> Lowering::getView(Operation *op, Value view) {
  auto found = views.find(view);
  if (found == views.end())
    return op->emitOpError("expects views made by tile.view or tile.packed, got one of ")
           << view.getType() << " that is carried";
  return found->second;
}

//===-- Structure ----------------------------------------------------------------------------===//

LogicalResult Lowering::lowerBlock(Block &block) {
  for (Operation &op : block) {
    if (isa<tile::YieldOp, scf::YieldOp>(op))
      continue;
    b.setLoc(op.getLoc());
    if (failed(lowerOp(&op)))
      return failure();
  }
  return success();
}

LogicalResult Lowering::lowerOp(Operation *op) {
  if (isa<TileDialect>(op->getDialect()))
    return llvm::TypeSwitch<Operation *, LogicalResult>(op)
        .Case<KernelOp, ViewOp, PackedOp, LoadOp, GatherOp, StoreOp, DequantizeOp, DotOp, MapOp,
              ReduceOp, BroadcastOp, ExtractOp, SplatOp, IotaOp, CastOp>(
            [&](auto tile) { return lower(tile); })
        .Default([](Operation *other) {
          return other->emitOpError("is not known to fovea-tile-to-loops");
        });
  if (!containsTiles(op)) {
    b.clone(*op, mapping);
    return success();
  }
  if (auto loop = dyn_cast<scf::ForOp>(op))
    return lower(loop);
  if (auto branch = dyn_cast<scf::IfOp>(op))
    return lower(branch);
  return op->emitOpError("has to do with tiles, expects scf.for, scf.if or a tile op");
}

LogicalResult Lowering::lower(KernelOp op) {
  if (op->getParentOp() != function)
    return op.emitOpError("expects to stand in the function itself, not in ")
           << op->getParentOp()->getName();
  ++kernels;
  SmallVector<Value> extents =
      llvm::map_to_vector(op.getExtents(), [&](Value extent) { return get(extent); });
  SmallVector<Value> zeros(extents.size(), makeIndex(b, 0)), ones(extents.size(), makeIndex(b, 1));
  auto parallel = scf::ParallelOp::create(b, zeros, extents, ones);
  mapping.map(op.getBody().getArguments(), parallel.getInductionVars());
  OpBuilder::InsertionGuard guard(b);
  b.setInsertionPointToStart(parallel.getBody());
  return lowerBlock(op.getBody().front());
}

/// A carried tile has one buffer for the argument and the result. What is yielded is first copied
/// elsewhere, because it may be another argument's.
LogicalResult Lowering::lower(scf::ForOp op) {
  SmallVector<Value> inits;
  SmallVector<std::pair<TileType, Value>> carried; // the types and buffers of tiles
  for (auto [init, argument, result] :
       llvm::zip(op.getInitArgs(), op.getRegionIterArgs(), op.getResults())) {
    if (!isa<TileType>(init.getType())) {
      if (isa<ViewType>(init.getType()))
        return op.emitOpError("expects to carry no view, got ") << init.getType();
      inits.push_back(get(init));
      continue;
    }
    TRY(Value buffer, define(op, argument));
    mapping.map(result, buffer);
    carried.emplace_back(cast<TileType>(init.getType()), buffer);
    copy(carried.back().first, get(init), buffer);
  }
  auto loop = scf::ForOp::create(b, get(op.getLowerBound()), get(op.getUpperBound()),
                                 get(op.getStep()), inits, nullptr, op.getUnsignedCmp());
  mapping.map(op.getInductionVar(), loop.getInductionVar());
  size_t scalars = 0;
  for (auto [argument, result] : llvm::zip(op.getRegionIterArgs(), op.getResults()))
    if (!isa<TileType>(argument.getType())) {
      mapping.map(argument, loop.getRegionIterArg(scalars));
      mapping.map(result, loop.getResult(scalars++));
    }
  OpBuilder::InsertionGuard guard(b);
  // A loop that carries nothing has its terminator already.
  b.setInsertionPointToStart(loop.getBody());
  if (failed(lowerBlock(*op.getBody())))
    return failure();
  SmallVector<Value> yields, tiles;
  for (Value yielded : op.getBody()->getTerminator()->getOperands())
    (isa<TileType>(yielded.getType()) ? tiles : yields).push_back(get(yielded));
  for (auto [tile, slot] : llvm::zip(tiles, carried)) {
    TRY(Value aside, makeBuffer(op, slot.first));
    copy(slot.first, tile, aside);
    tile = aside;
  }
  for (auto [tile, slot] : llvm::zip(tiles, carried))
    copy(slot.first, tile, slot.second);
  if (!yields.empty())
    scf::YieldOp::create(b, yields);
  return success();
}

LogicalResult Lowering::lower(scf::IfOp op) {
  SmallVector<Type> types;
  for (Value result : op.getResults()) {
    if (isa<ViewType>(result.getType()))
      return op.emitOpError("expects to give no view, got ") << result.getType();
    if (!isa<TileType>(result.getType()))
      types.push_back(result.getType());
    else if (failed(define(op, result)))
      return failure();
  }
  bool withElse = !op.getElseRegion().empty();
  auto branch = scf::IfOp::create(b, types, get(op.getCondition()), withElse);
  auto lowerSide = [&](Block *from, Block *to) -> LogicalResult {
    OpBuilder::InsertionGuard guard(b);
    b.setInsertionPointToStart(to);
    if (failed(lowerBlock(*from)))
      return failure();
    SmallVector<Value> yields;
    for (auto [yielded, result] :
         llvm::zip(from->getTerminator()->getOperands(), op.getResults())) {
      if (auto type = dyn_cast<TileType>(yielded.getType()))
        copy(type, get(yielded), get(result));
      else
        yields.push_back(get(yielded));
    }
    if (!yields.empty())
      scf::YieldOp::create(b, yields);
    return success();
  };
  if (failed(lowerSide(op.thenBlock(), branch.thenBlock())) ||
      (withElse && failed(lowerSide(op.elseBlock(), branch.elseBlock()))))
    return failure();
  size_t scalars = 0;
  for (Value result : op.getResults())
    if (!isa<TileType>(result.getType()))
      mapping.map(result, branch.getResult(scalars++));
  return success();
}

//===-- Memory -------------------------------------------------------------------------------===//

LogicalResult Lowering::lower(ViewOp op) {
  View view;
  view.memory = get(op.getMemory());
  view.axes.assign(op.getAxes().begin(), op.getAxes().end());
  for (Value index : op.getAt())
    view.at.push_back(get(index));
  if (op.getLength())
    view.bounds[0] = get(op.getLength());
  else if (view.axes.size() == 1)
    view.bounds[0] = makeIndex(b, 1);
  else
    view.bounds[0] = memref::DimOp::create(b, view.memory, view.axes.front());
  view.bounds[1] = memref::DimOp::create(b, view.memory, view.axes.back());
  views[op.getView()] = std::move(view);
  return success();
}

LogicalResult Lowering::lower(PackedOp op) {
  ViewType type = op.getView().getType();
  views[op.getView()] = {get(op.getMemory()),
                         {makeIndex(b, type.getRows()), makeIndex(b, type.getColumns())},
                         {},
                         {},
                         op.isOfNibbles(),
                         getUnits(type.getElementType())};
  return success();
}

/// An integer of a unit, bit by bit: bit i of neighbour k is where `dialects/PackedIntegers.h`
/// says.
static Value loadOfUnit(ImplicitLocOpBuilder &b, const View &view, Value row, Value column) {
  const PackedIntegers &units = *view.units;
  auto divide = [&](Value l, int64_t r) -> Value {
    return arith::DivUIOp::create(b, l, makeIndex(b, r));
  };
  auto remainder = [&](Value l, int64_t r) -> Value {
    return arith::RemUIOp::create(b, l, makeIndex(b, r));
  };
  auto addTimes = [&](Value l, Value r, int64_t by) -> Value {
    return arith::AddIOp::create(b, l, arith::MulIOp::create(b, r, makeIndex(b, by)));
  };
  int64_t panel = cast<MemRefType>(view.memory.getType()).getDimSize(2);
  Value k = remainder(column, units.unit()), byte = divide(remainder(k, 8), 2);
  Value part = addTimes(remainder(k, 2), divide(k, 8), 2);
  Type type = b.getIntegerType(units.bits), i1 = b.getI1Type();
  Value result = makeZero(b, type);
  for (int64_t bit = 0; bit < units.bits; ++bit) {
    bool isLow = bit < units.lowBits();
    int64_t each = isLow ? units.lowBits() : units.highBits();
    Value at = addTimes(makeIndex(b, isLow ? bit : bit - units.lowBits()), part, each);
    Value first = makeIndex(b, isLow ? 0 : units.highWord());
    Value word = arith::AddIOp::create(b, first, divide(at, 8));
    word = addTimes(word, divide(column, units.unit()), units.words());
    Value place[] = {divide(row, panel), word, remainder(row, panel), byte};
    Value loaded = memref::LoadOp::create(b, view.memory, place);
    Value shift = arith::IndexCastOp::create(b, loaded.getType(), remainder(at, 8));
    Value one = arith::TruncIOp::create(b, i1, arith::ShRUIOp::create(b, loaded, shift));
    Value left = arith::ConstantOp::create(b, b.getIntegerAttr(type, bit));
    one = arith::ShLIOp::create(b, arith::ExtUIOp::create(b, type, one), left);
    result = arith::OrIOp::create(b, result, one);
  }
  return result;
}

void Lowering::loadInside(const View &view, Value from, Value fromColumn, Value buffer, Value row,
                          Value column) {
  Type element = cast<MemRefType>(buffer.getType()).getElementType();
  write(makeZero(b, element), buffer, row, column);
  ifInside(b, view, from, fromColumn, [&] {
    if (view.units)
      return write(loadOfUnit(b, view, from, fromColumn), buffer, row, column);
    Value value =
        memref::LoadOp::create(b, view.memory, getPlace(b, view, from, fromColumn)).getResult();
    if (view.ofNibbles) {
      Value high =
          arith::ShRUIOp::create(b, value, arith::ConstantOp::create(b, b.getI8IntegerAttr(4)));
      Value isOdd = arith::CmpIOp::create(b, arith::CmpIPredicate::ne,
                                          arith::RemUIOp::create(b, fromColumn, makeIndex(b, 2)),
                                          makeIndex(b, 0));
      value = arith::TruncIOp::create(b, element, arith::SelectOp::create(b, isOdd, high, value));
    }
    write(value, buffer, row, column);
  });
}

LogicalResult Lowering::lower(LoadOp op) {
  FailureOr<View> view = getView(op, op.getView());
  FailureOr<Value> buffer = define(op, op.getTile());
  if (failed(view) || failed(buffer))
    return failure();
  forEach(b, op.getTile().getType(), [&](Value r, Value c) {
    Value row = arith::AddIOp::create(b, get(op.getRow()), r);
    Value column = arith::AddIOp::create(b, get(op.getColumn()), c);
    loadInside(*view, row, column, *buffer, r, c);
  });
  return success();
}

LogicalResult Lowering::lower(GatherOp op) {
  FailureOr<View> view = getView(op, op.getView());
  FailureOr<Value> buffer = define(op, op.getTile());
  if (failed(view) || failed(buffer))
    return failure();
  forEach(b, op.getTile().getType(), [&](Value r, Value c) {
    Value zero = makeIndex(b, 0);
    Value number = read(get(op.getRows()), r, zero);
    Value row = number.getType().isInteger(1)
                    ? arith::IndexCastUIOp::create(b, b.getIndexType(), number).getResult()
                    : arith::IndexCastOp::create(b, b.getIndexType(), number).getResult();
    row = arith::SelectOp::create(b, isInside(b, row, view->bounds[0]), row, zero);
    Value column = arith::AddIOp::create(b, get(op.getColumn()), c);
    loadInside(*view, row, column, *buffer, r, c);
  });
  return success();
}

LogicalResult Lowering::lower(StoreOp op) {
  TRY(View view, getView(op, op.getView()));
  forEach(b, op.getTile().getType(), [&](Value r, Value c) {
    Value row = arith::AddIOp::create(b, get(op.getRow()), r);
    Value column = arith::AddIOp::create(b, get(op.getColumn()), c);
    ifInside(b, view, row, column, [&] {
      memref::StoreOp::create(b, read(get(op.getTile()), r, c), view.memory,
                              getPlace(b, view, row, column));
    });
  });
  return success();
}

//===-- Products -----------------------------------------------------------------------------===//

LogicalResult Lowering::lower(DequantizeOp op) {
  return fill(op, op.getResult(), [&](Value r, Value c) {
    Value integer = read(get(op.getInput()), r, c);
    if (std::optional<ArrayRef<int8_t>> table = op.getTable()) {
      // A byte of all entries as one number.
      APInt entries(8 * table->size(), 0);
      for (auto [i, entry] : llvm::enumerate(*table))
        entries.insertBits(static_cast<uint8_t>(entry), 8 * i, 8);
      Type wide = b.getIntegerType(entries.getBitWidth());
      Value shift = arith::ShLIOp::create(b, arith::ExtUIOp::create(b, wide, integer),
                                          arith::ConstantOp::create(b, b.getIntegerAttr(wide, 3)));
      Value all = arith::ConstantOp::create(b, b.getIntegerAttr(wide, entries));
      integer = arith::TruncIOp::create(b, b.getI8Type(), arith::ShRUIOp::create(b, all, shift));
    }
    Value value = arith::SIToFPOp::create(b, b.getF32Type(), integer);
    if (op.getBias() != 0)
      value = arith::AddFOp::create(
          b, value,
          arith::ConstantOp::create(b, b.getF32FloatAttr(static_cast<float>(op.getBias()))));
    if (op.getScales()) {
      Value place = arith::DivUIOp::create(b, c, makeIndex(b, op.getGroup()));
      auto factor = [&](Value of) {
        return convertFloat(b, read(get(of), r, place), b.getF32Type());
      };
      value = arith::MulFOp::create(b, value, factor(op.getScales()));
      if (op.getOffsets())
        value = arith::AddFOp::create(b, value, factor(op.getOffsets()));
    }
    return convertFloat(b, value, op.getResult().getType().getElementType());
  });
}

LogicalResult Lowering::lower(DotOp op) {
  TRY(Value buffer, define(op, op.getResult()));
  TileType type = op.getResult().getType();
  Type element = type.getElementType();
  int64_t depth = op.getA().getType().getColumns();

  // k that an operand was loaded with from outside of its view are left out. Being zeros here they
  // would add nothing, but for a NaN or an infinity on the other side.
  struct Limit {
    Value first, bound;
  };
  SmallVector<Limit> limits;
  auto addLimit = [&](Value operand, int64_t depthAxis) -> LogicalResult {
    if (auto dequantize = operand.getDefiningOp<DequantizeOp>())
      operand = dequantize.getInput();
    auto load = operand.getDefiningOp<LoadOp>();
    if (!load)
      return success();
    TRY(View view, getView(load, load.getView()));
    limits.push_back(
        {get(depthAxis == 0 ? load.getRow() : load.getColumn()), view.bounds[depthAxis]});
    return success();
  };
  if (failed(addLimit(op.getA(), 1)) || failed(addLimit(op.getB(), op.getTransposeB() ? 1 : 0)))
    return failure();

  forEach(b, type, [&](Value m, Value n) {
    Value start = op.getAcc() ? read(get(op.getAcc()), m, n) : makeZero(b, element);
    Value sum = fold(b, depth, start, [&](Value k, Value sofar) -> Value {
      Value x = read(get(op.getA()), m, k);
      if (x.getType().isInteger(8)) {
        Value point = arith::ConstantOp::create(b, b.getI32IntegerAttr(DotOp::kZeroPoint));
        x = arith::SubIOp::create(b, arith::ExtUIOp::create(b, b.getI32Type(), x), point);
        x = arith::SIToFPOp::create(b, element, x);
      }
      x = convertFloat(b, x, element);
      Value y = op.getTransposeB() ? read(get(op.getB()), n, k) : read(get(op.getB()), k, n);
      y = convertFloat(b, y, element);
      Value next = arith::AddFOp::create(b, sofar, arith::MulFOp::create(b, x, y));
      for (const Limit &limit : limits) {
        Value at = arith::AddIOp::create(b, limit.first, k);
        next = arith::SelectOp::create(b, isInside(b, at, limit.bound), next, sofar);
      }
      return next;
    });
    write(sum, buffer, m, n);
  });
  return success();
}

//===-- Elements -----------------------------------------------------------------------------===//

LogicalResult Lowering::lower(MapOp op) {
  Block &body = op.getBody().front();
  for (Operation &inner : body.without_terminator())
    if (containsTiles(&inner))
      return inner.emitOpError("has to do with tiles, expects scalars in a tile.map");
  return fill(op, op.getResult(), [&](Value r, Value c) {
    for (auto [argument, input] : llvm::zip(body.getArguments(), op.getInputs()))
      mapping.map(argument, read(get(input), r, c));
    for (Operation &inner : body.without_terminator())
      b.clone(inner, mapping);
    return get(body.getTerminator()->getOperand(0));
  });
}

/// Sums run in f64.
LogicalResult Lowering::lower(ReduceOp op) {
  bool isSum = op.getKind() == ReduceKind::Sum;
  TileType input = op.getInput().getType();
  Type element = input.getElementType();
  Type wide = isSum ? b.getF64Type() : element;
  return fill(op, op.getResult(), [&](Value r, Value c) {
    auto getElement = [&](Value i) {
      Value from = get(op.getInput());
      return convertFloat(b, op.getAxis() == 0 ? read(from, i, c) : read(from, r, i), wide);
    };
    Value start = isSum ? makeZero(b, wide) : getElement(makeIndex(b, 0));
    Value joined = fold(b, input.getSize(op.getAxis()), start, [&](Value i, Value sofar) -> Value {
      Value next = getElement(i);
      if (isSum)
        return arith::AddFOp::create(b, sofar, next);
      return arith::MaxNumFOp::create(b, sofar, next);
    });
    return convertFloat(b, joined, element);
  });
}

LogicalResult Lowering::lower(BroadcastOp op) {
  TileType input = op.getInput().getType();
  return fill(op, op.getResult(), [&](Value r, Value c) {
    Value row = input.getRows() == 1 ? makeIndex(b, 0) : r;
    Value column = input.getColumns() == 1 ? makeIndex(b, 0) : c;
    return read(get(op.getInput()), row, column);
  });
}

LogicalResult Lowering::lower(ExtractOp op) {
  Value zero = makeIndex(b, 0);
  mapping.map(op.getElement(), read(get(op.getTile()), zero, zero));
  return success();
}

LogicalResult Lowering::lower(SplatOp op) {
  return fill(op, op.getResult(), [&](Value, Value) { return get(op.getValue()); });
}

LogicalResult Lowering::lower(IotaOp op) {
  return fill(op, op.getResult(), [&](Value r, Value c) {
    Value number = arith::AddIOp::create(b, get(op.getFirst()), op.getAxis() == 0 ? r : c);
    return arith::IndexCastOp::create(b, b.getI32Type(), number);
  });
}

LogicalResult Lowering::lower(CastOp op) {
  Type element = op.getResult().getType().getElementType();
  return fill(op, op.getResult(), [&](Value r, Value c) {
    return convertFloat(b, read(get(op.getInput()), r, c), element);
  });
}

//===-- The pass -----------------------------------------------------------------------------===//

namespace {
struct TileToLoopsPass : fovea::impl::TileToLoopsPassBase<TileToLoopsPass> {
  using TileToLoopsPassBase::TileToLoopsPassBase;

  void runOnOperation() override {
    func::FuncOp function = getOperation();
    if (function.isExternal() || !containsTiles(function))
      return;
    if (!function.getBody().hasOneBlock() ||
        llvm::any_of(function.getArgumentTypes(), isTileType) ||
        llvm::any_of(function.getResultTypes(), isTileType)) {
      function.emitOpError("expects tiles in a function of one block, and none in its type");
      return signalPassFailure();
    }
    Region fresh(function);
    Block *entry = &fresh.emplaceBlock();
    for (BlockArgument argument : function.getArguments())
      entry->addArgument(argument.getType(), argument.getLoc());
    Lowering lowering(function, entry);
    if (failed(lowering.run()))
      return signalPassFailure();
    function.getBody().takeBody(fresh);
    kernels += lowering.kernels;
    buffers += lowering.buffers;
  }
};
} // namespace
