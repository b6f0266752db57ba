// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// The kernel of fovea.pool, a tile program of its own: sums of the kept places for `mean`, the
// greatest of each column, NaN above all, for `max`, one place's row for `first` and `last`.
#include "dialects/Tile/TileDialect.h"
#include "lowering/Kernels/Cost.h"
#include "lowering/Kernels/TileBuilder.h"
#include <limits>

#include "lowering/Targets/Table.h"
#include "lowering/Tile/Emitter.h"

using namespace mlir;
using namespace mlir::fovea;
using tile::TileType;

/// Columns of a tile.
static constexpr int64_t kColumns = 64;

namespace {

class PoolBuilder {
public:
  PoolBuilder(KernelBuilder &k, PoolOp op, int64_t atOnce)
      : k(k), op(op), atOnce(atOnce), x(k.buffer(op.getInput())), keep(k.buffer(op.getKeep())),
        type(getAccumulationType(elementOf(x))) {}
  void emit();

private:
  Value isKept(OpBuilder &builder, Value place);
  /// Carried over all places: `next(whether it is kept, its number, the value so far)`.
  Value overPlaces(Value start, function_ref<Value(Value, Value, Value)> next);
  Value mean();
  Value greatest();
  void storePlace();
  void storeRow(Value row);

  KernelBuilder &k;
  PoolOp op;
  int64_t atOnce; ///< places that are summed
  Value x, keep, batch, column, input, output;
  Type type; ///< that sums are in
  TileType rowType = TileType::get(1, kColumns, type);
};

} // namespace

Value PoolBuilder::isKept(OpBuilder &builder, Value place) {
  Location loc = op.getLoc();
  Value kept = memref::LoadOp::create(builder, loc, keep, ValueRange{batch, place});
  if (kept.getType().isInteger(1))
    return kept;
  Value zero = arith::ConstantOp::create(builder, loc, builder.getZeroAttr(kept.getType()));
  return arith::CmpIOp::create(builder, loc, arith::CmpIPredicate::ne, kept, zero);
}

Value PoolBuilder::overPlaces(Value start, function_ref<Value(Value, Value, Value)> next) {
  return k
      .loopCarried(k.index(0), k.size(x, 1), start,
                   [&](Value place, ValueRange carried) -> SmallVector<Value> {
                     return {next(isKept(k, place), place, carried[0])};
                   })
      .front();
}

Value PoolBuilder::mean() {
  Value places = k.size(x, 1), zero = k.real(type, 0), one = k.real(type, 1);
  // A tile's rows may go past the last place; there is no mask to read.
  Value last = k.add(places, k.index(-1));
  Value count =
      keep
          ? overPlaces(zero, [&](Value kept, Value,
                                 Value sum) { return k.select(kept, k.add(sum, one), sum); })
          : arith::UIToFPOp::create(k, type, arith::IndexCastOp::create(k, k.getI64Type(), places));
  count = k.maximum(count, k.real(type, 1e-9));

  auto tileType = TileType::get(atOnce, kColumns, elementOf(x));
  Value start = tile::SplatOp::create(k, rowType, zero);
  auto loop = scf::ForOp::create(k, k.index(0), places, k.index(atOnce), start);
  {
    OpBuilder::InsertionGuard guard(k);
    k.setInsertionPointToEnd(loop.getBody());
    Value first = loop.getInductionVar();
    Value rows = tile::LoadOp::create(k, tileType, input, first, column);
    Value numbers =
        tile::IotaOp::create(k, tileType.withElementType(k.getI32Type()), first, /*axis=*/0);
    Value kept = tile::MapOp::create(
        k, tileType.withElementType(type), ValueRange{rows, numbers},
        [&](OpBuilder &builder, Location loc, ValueRange element) -> Value {
          Value place =
              arith::IndexCastOp::create(builder, loc, builder.getIndexType(), element[1]);
          Value inside =
              arith::CmpIOp::create(builder, loc, arith::CmpIPredicate::slt, place, places);
          if (keep) {
            Value read = arith::MinSIOp::create(builder, loc, place, last);
            inside = arith::AndIOp::create(builder, loc, inside, isKept(builder, read));
          }
          ImplicitLocOpBuilder inner(loc, builder);
          Value number = convertFloat(inner, element[0], type);
          return arith::SelectOp::create(builder, loc, inside, number, zero);
        });
    Value sum = tile::ReduceOp::create(k, rowType, tile::ReduceKind::Sum, kept, /*axis=*/0);
    Value next =
        tile::MapOp::create(k, rowType, ValueRange{loop.getRegionIterArg(0), sum},
                            [&](OpBuilder &builder, Location loc, ValueRange element) -> Value {
                              return arith::AddFOp::create(builder, loc, element[0], element[1]);
                            });
    scf::YieldOp::create(k, next);
  }
  return tile::MapOp::create(k, rowType, loop.getResults(),
                             [&](OpBuilder &builder, Location loc, ValueRange element) -> Value {
                               return arith::DivFOp::create(builder, loc, element[0], count);
                             });
}

/// One place after the other; minus infinity where none is kept.
Value PoolBuilder::greatest() {
  Value none = k.real(type, -std::numeric_limits<double>::infinity());
  Value start = tile::SplatOp::create(k, rowType, none);
  auto loop = scf::ForOp::create(k, k.index(0), k.size(x, 1), k.index(1), start);
  OpBuilder::InsertionGuard guard(k);
  k.setInsertionPointToEnd(loop.getBody());
  Value place = loop.getInductionVar(), before = loop.getRegionIterArg(0);
  Value row = tile::LoadOp::create(k, rowType.withElementType(elementOf(x)), input, place, column);
  Value kept = keep ? isKept(k, place) : Value();
  Value next = tile::MapOp::create(
      k, rowType, ValueRange{before, row},
      [&](OpBuilder &builder, Location loc, ValueRange element) -> Value {
        ImplicitLocOpBuilder inner(loc, builder);
        Value number = convertFloat(inner, element[1], type);
        Value most = arith::MaximumFOp::create(inner, element[0], number);
        return kept ? arith::SelectOp::create(inner, kept, most, element[0]).getResult() : most;
      });
  scf::YieldOp::create(k, next);
  return loop.getResult(0);
}

void PoolBuilder::storePlace() {
  bool first = op.getKind() == PoolKind::First;
  TileType stored = rowType.withElementType(elementOf(x));
  Value none = k.index(-1), places = k.size(x, 1);
  // Without a place there is none to take either.
  Value chosen;
  if (keep)
    chosen = overPlaces(none, [&](Value kept, Value place, Value before) {
      if (first)
        kept = arith::AndIOp::create(k, kept, k.less(before, k.index(0)));
      return k.select(kept, place, before);
    });
  else
    chosen = first ? k.select(k.less(k.index(0), places), k.index(0), none) : k.add(places, none);
  auto store = [&](Value row) {
    tile::StoreOp::create(k, row, output, batch, column);
    return SmallVector<Value>();
  };
  k.branch(
      k.less(chosen, k.index(0)), TypeRange(),
      [&] { return store(tile::SplatOp::create(k, stored, k.real(elementOf(x), 0))); },
      [&] { return store(tile::LoadOp::create(k, stored, input, chosen, column)); });
}

void PoolBuilder::storeRow(Value row) {
  TileType wanted = rowType.withElementType(elementOf(k.outputs[0]));
  if (row.getType() != wanted)
    row = tile::CastOp::create(k, wanted, row);
  tile::StoreOp::create(k, row, output, batch, column);
}

void PoolBuilder::emit() {
  Value out = k.outputs[0];
  auto type = cast<MemRefType>(out.getType());
  int64_t blocks = llvm::divideCeil(type.getDimSize(1), kColumns);
  tile::KernelOp::create(k, ValueRange{k.size(out, 0), k.index(blocks)},
                         [&](OpBuilder &builder, Location, ValueRange grid) {
                           OpBuilder::InsertionGuard guard(k);
                           k.setInsertionPoint(builder.getInsertionBlock(),
                                               builder.getInsertionPoint());
                           batch = grid[0];
                           column = k.mul(grid[1], k.index(kColumns));
                           input = createView(k, x, batch, {1, 2});
                           output = createView(k, out, {}, {0, 1});
                           PoolKind kind = op.getKind();
                           if (kind == PoolKind::First || kind == PoolKind::Last)
                             storePlace();
                           else
                             storeRow(kind == PoolKind::Mean ? mean() : greatest());
                           builder.setInsertionPointToEnd(k.getInsertionBlock());
                         });
}

static LogicalResult buildTilePool(KernelBuilder &k, PoolOp op, RowScheduleAttr schedule) {
  PoolBuilder(k, op, schedule.getRows()).emit();
  return success();
}

namespace {
struct PoolKernel : KernelOpInterface::ExternalModel<PoolKernel, PoolOp> {
  bool hasOwnTiles(Operation *) const { return true; }
  LogicalResult emitOwnTiles(Operation *op, KernelBuilder &k, Attribute schedule) const {
    auto rows = dyn_cast<RowScheduleAttr>(schedule);
    if (!rows)
      return op->emitOpError("expects the schedule of rows, got ") << schedule;
    return buildTilePool(k, cast<PoolOp>(op), rows);
  }
  Attribute chooseSchedule(Operation *op, const Level &level) const {
    return RowScheduleAttr::get(op->getContext(), level.rows);
  }
  /// One place of a sequence, unless all are joined.
  Value countElements(Operation *op, CostBuilder &cost, OpOperand &operand) const {
    PoolKind kind = cast<PoolOp>(op).getKind();
    bool isOne = kind != PoolKind::Mean && kind != PoolKind::Max;
    return operand.getOperandNumber() == 0 && isOne ? cost.elements(op->getResult(0)) : Value();
  }
};
} // namespace

void mlir::fovea::attachPoolKernel(MLIRContext &context) {
  PoolOp::attachInterface<PoolKernel>(context);
}
