// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// The kernel of fovea.pool. Its tile program: sums of the kept places for `mean`, one place's row
// for `first` and `last`. It refuses `max`, whose loops let NaN through, and elements other than
// f32.
#include "dialects/Tile/TileDialect.h"
#include "lowering/Kernels/KernelBuilder.h"
#include "lowering/Kernels/KernelInterface.h"
#include <limits>

#include "lowering/Targets/Table.h"

using namespace mlir;
using namespace mlir::fovea;
using tile::TileType;

/// Columns of a tile.
static constexpr int64_t kColumns = 64;

static bool isTilePool(PoolOp op) {
  return op.getKind() != PoolKind::Max && op.getInput().getType().getElementType().isF32();
}

namespace {

class PoolBuilder {
public:
  PoolBuilder(KernelBuilder &k, PoolOp op, int64_t atOnce)
      : k(k), op(op), atOnce(atOnce), x(k.buffer(op.getInput())), keep(k.buffer(op.getKeep())) {}
  void emit();

private:
  Value isKept(OpBuilder &builder, Value place);
  /// Carried over all places: `next(whether it is kept, its number, the value so far)`.
  Value overPlaces(Value start, function_ref<Value(Value, Value, Value)> next);
  Value mean();
  void storePlace();

  KernelBuilder &k;
  PoolOp op;
  int64_t atOnce; ///< places that are summed
  Value x, keep, batch, column, input, output;
  TileType rowType = TileType::get(1, kColumns, k.getF32Type());
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
  Value places = k.size(x, 1), zero = k.real(k.getF32Type(), 0), one = k.real(k.getF32Type(), 1);
  // A tile's rows may go past the last place; there is no mask to read.
  Value last = k.add(places, k.index(-1));
  Value count =
      keep ? overPlaces(zero, [&](Value kept, Value,
                                  Value sum) { return k.select(kept, k.add(sum, one), sum); })
           : arith::UIToFPOp::create(k, k.getF32Type(),
                                     arith::IndexCastOp::create(k, k.getI64Type(), places));
  count = k.maximum(count, k.real(k.getF32Type(), 1e-9));

  auto type = TileType::get(atOnce, kColumns, k.getF32Type());
  Value start = tile::SplatOp::create(k, rowType, zero);
  auto loop = scf::ForOp::create(k, k.index(0), places, k.index(atOnce), start);
  {
    OpBuilder::InsertionGuard guard(k);
    k.setInsertionPointToEnd(loop.getBody());
    Value first = loop.getInductionVar();
    Value rows = tile::LoadOp::create(k, type, input, first, column);
    Value numbers =
        tile::IotaOp::create(k, type.withElementType(k.getI32Type()), first, /*axis=*/0);
    Value kept = tile::MapOp::create(
        k, type, ValueRange{rows, numbers},
        [&](OpBuilder &builder, Location loc, ValueRange element) -> Value {
          Value place =
              arith::IndexCastOp::create(builder, loc, builder.getIndexType(), element[1]);
          Value inside =
              arith::CmpIOp::create(builder, loc, arith::CmpIPredicate::slt, place, places);
          if (keep) {
            Value read = arith::MinSIOp::create(builder, loc, place, last);
            inside = arith::AndIOp::create(builder, loc, inside, isKept(builder, read));
          }
          return arith::SelectOp::create(builder, loc, inside, element[0], zero);
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

void PoolBuilder::storePlace() {
  bool first = op.getKind() == PoolKind::First;
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
      [&] { return store(tile::SplatOp::create(k, rowType, k.real(k.getF32Type(), 0))); },
      [&] { return store(tile::LoadOp::create(k, rowType, input, chosen, column)); });
}

void PoolBuilder::emit() {
  Value out = k.outputs[0];
  auto type = cast<MemRefType>(out.getType());
  auto view = [&](Value memory, ValueRange at, ArrayRef<int64_t> axes) -> Value {
    auto of = cast<MemRefType>(memory.getType());
    auto viewType =
        tile::ViewType::get(of.getDimSize(axes[0]), of.getDimSize(axes[1]), of.getElementType());
    return tile::ViewOp::create(k, viewType, memory, at, Value(), axes);
  };
  int64_t blocks = llvm::divideCeil(type.getDimSize(1), kColumns);
  tile::KernelOp::create(k, ValueRange{k.size(out, 0), k.index(blocks)},
                         [&](OpBuilder &builder, Location, ValueRange grid) {
                           OpBuilder::InsertionGuard guard(k);
                           k.setInsertionPoint(builder.getInsertionBlock(),
                                               builder.getInsertionPoint());
                           batch = grid[0];
                           column = k.mul(grid[1], k.index(kColumns));
                           input = view(x, batch, {1, 2});
                           output = view(out, {}, {0, 1});
                           if (op.getKind() == PoolKind::Mean)
                             tile::StoreOp::create(k, mean(), output, batch, column);
                           else
                             storePlace();
                           builder.setInsertionPointToEnd(k.getInsertionBlock());
                         });
}

static LogicalResult buildTilePool(KernelBuilder &k, PoolOp op, RowScheduleAttr schedule) {
  PoolBuilder(k, op, schedule.getRows()).emit();
  return success();
}

static LogicalResult buildPool(KernelBuilder &k, PoolOp op) {
  Value x = k.buffer(op.getInput()), keep = k.buffer(op.getKeep());
  Type type = getAccumulationType(elementOf(x));
  Value zero = k.real(type, 0), one = k.real(type, 1);
  PoolKind kind = op.getKind();
  double start = kind == PoolKind::Max ? -std::numeric_limits<double>::infinity() : 0;
  k.parallelNest(k.sizes(k.outputs[0]), [&](ValueRange at) {
    Value b = at[0], d = at[1];
    // Carried: the value so far, and how many places were kept.
    SmallVector<Value> result = k.loopCarried(
        k.index(0), k.size(x, 1), {k.real(type, start), zero},
        [&](Value s, ValueRange carried) -> SmallVector<Value> {
          Value element = k.loadAs(type, x, {b, s, d}), next;
          switch (kind) {
          case PoolKind::Mean:
            next = k.add(carried[0], element);
            break;
          case PoolKind::Max:
            next = k.maximum(carried[0], element);
            break;
          case PoolKind::First:
            next = k.select(k.less(zero, carried[1]), carried[0], element);
            break;
          case PoolKind::Last:
            next = element;
            break;
          }
          Value count = k.add(carried[1], one);
          if (!keep)
            return {next, count};
          Value kept = k.load(keep, {b, s});
          if (!kept.getType().isInteger(1))
            kept = arith::CmpIOp::create(k, arith::CmpIPredicate::ne, kept,
                                         k.integer(kept.getType(), 0));
          return {k.select(kept, next, carried[0]), k.select(kept, count, carried[1])};
        });
    Value value = result[0];
    if (kind == PoolKind::Mean)
      value = k.div(value, k.maximum(result[1], k.real(type, 1e-9)));
    k.storeTo(k.outputs[0], at, value);
  });
  return success();
}

namespace {
struct PoolKernel : KernelOpInterface::ExternalModel<PoolKernel, PoolOp> {
  LogicalResult emitLoops(Operation *op, KernelBuilder &k) const {
    return buildPool(k, cast<PoolOp>(op));
  }
  bool hasOwnTiles(Operation *op) const { return isTilePool(cast<PoolOp>(op)); }
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
  bool readsSomeRows(Operation *op, OpOperand &operand) const {
    PoolKind kind = cast<PoolOp>(op).getKind();
    return operand.getOperandNumber() == 0 && kind != PoolKind::Mean && kind != PoolKind::Max;
  }
};
} // namespace

void mlir::fovea::attachPoolKernel(MLIRContext &context) {
  PoolOp::attachInterface<PoolKernel>(context);
}
