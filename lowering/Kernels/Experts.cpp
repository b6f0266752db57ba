// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Kernels of routing: the greatest elements of short rows and the order of pairs by expert as
// loops, which take a thousandth of what the experts' products take; gathers and weighted sums of
// rows as tiles. A number of no row, or of no expert, is a fault.
#include "lowering/Kernels/Cost.h"
#include "lowering/Kernels/TileBuilder.h"
#include <limits>

using namespace mlir;
using namespace mlir::fovea;

//===-- Choice and order ---------------------------------------------------------------------===//

namespace {
/// An element of a row and its place. What is greater stands first, and of equals the first.
struct Placed {
  Value number, place;
};

/// The elements of one row, as they are ranked.
class RankedRow {
public:
  RankedRow(TopKOp op, KernelBuilder &k, ValueRange row)
      : k(k), op(op), x(k.buffer(op.getInput())), row(row),
        type(getAccumulationType(elementOf(x))) {
    if (op.getBias())
      bias = k.buffer(op.getBias());
    lowest = k.real(type, -std::numeric_limits<double>::infinity());
  }

  /// Before all others.
  SmallVector<Value> first() {
    return {k.real(type, std::numeric_limits<double>::infinity()), k.index(-1)};
  }
  /// The first behind `last` of the places from `begin` to `end`, in the groups of `kept`, a bit
  /// for each, if it is given.
  Placed findNext(Value begin, Value end, Placed last, Value kept = {});
  /// The groups among which is chosen.
  Value chooseGroups();
  /// x itself.
  Value element(Value place) { return k.loadAs(type, x, append(row, place)); }
  Value size() { return k.size(x, row.size()); }
  Type getType() { return type; }

private:
  Value compare(arith::CmpFPredicate predicate, Value l, Value r) {
    return arith::CmpFOp::create(k, predicate, l, r);
  }
  Value both(Value l, Value r) { return arith::AndIOp::create(k, l, r); }
  Value either(Value l, Value r) { return arith::OrIOp::create(k, l, r); }
  Value numberOrLowest(Value x) {
    return k.select(compare(arith::CmpFPredicate::ORD, x, x), x, lowest);
  }
  Value groupSize() { return k.index(op.getInput().getType().getShape().back() / op.getGroups()); }
  Value asBits(Value group) { return arith::IndexCastOp::create(k, k.getI64Type(), group); }
  /// Of a group's greatest elements.
  Value sum(Value group);

  KernelBuilder &k;
  TopKOp op;
  Value x, bias, lowest;
  ValueRange row;
  Type type;
};
} // namespace

Placed RankedRow::findNext(Value begin, Value end, Placed last, Value kept) {
  SmallVector<Value> found = k.loopCarried(
      begin, end, {lowest, k.index(-1)}, [&](Value i, ValueRange best) -> SmallVector<Value> {
        Value number = element(i);
        if (bias)
          number = arith::AddFOp::create(k, number, k.loadAs(type, bias, i));
        number = numberOrLowest(number);
        Value equals = compare(arith::CmpFPredicate::OEQ, number, last.number);
        Value isBehind = either(k.less(number, last.number), both(equals, k.less(last.place, i)));
        Value isFirst = either(k.less(best[0], number), k.less(best[1], k.index(0)));
        Value isNew = both(isBehind, isFirst);
        if (kept) {
          Value group = asBits(arith::DivUIOp::create(k, i, groupSize()));
          isNew = both(isNew, arith::TruncIOp::create(k, k.getI1Type(),
                                                      arith::ShRUIOp::create(k, kept, group)));
        }
        return {k.select(isNew, number, best[0]), k.select(isNew, i, best[1])};
      });
  return {found[0], found[1]};
}

Value RankedRow::sum(Value group) {
  Value begin = arith::MulIOp::create(k, group, groupSize()), end = k.add(begin, groupSize());
  SmallVector<Value> from = first();
  from.push_back(k.real(type, 0));
  auto count = static_cast<int64_t>(op.getGroupTop());
  Value sum = k.loopCarried(k.index(0), k.index(count), from,
                            [&](Value, ValueRange last) -> SmallVector<Value> {
                              Placed next = findNext(begin, end, {last[0], last[1]});
                              Value more = arith::AddFOp::create(k, last[2], next.number);
                              return {next.number, next.place, more};
                            })
                  .back();
  return numberOrLowest(sum);
}

/// Those that fewer others stand before than are chosen.
Value RankedRow::chooseGroups() {
  Value zero = k.index(0), end = k.index(static_cast<int64_t>(op.getGroups()));
  Value chosen = k.index(static_cast<int64_t>(op.getChosenGroups()));
  Value none = arith::ConstantOp::create(k, k.getI64IntegerAttr(0));
  auto add = [&](Value group, ValueRange kept) -> SmallVector<Value> {
    Value own = sum(group);
    auto count = [&](Value other, ValueRange before) -> SmallVector<Value> {
      Value number = sum(other), equals = compare(arith::CmpFPredicate::OEQ, number, own);
      Value isBefore = either(k.less(own, number), both(equals, k.less(other, group)));
      return {k.select(isBefore, k.add(before[0], k.index(1)), before[0])};
    };
    Value before = k.loopCarried(zero, end, zero, count).front();
    Value one = arith::ExtUIOp::create(k, k.getI64Type(), k.less(before, chosen));
    Value bit = arith::ShLIOp::create(k, one, asBits(group));
    return {arith::OrIOp::create(k, kept[0], bit)};
  };
  return k.loopCarried(zero, end, none, add).front();
}

namespace {
struct TopKKernel : KernelOpInterface::ExternalModel<TopKKernel, TopKOp> {
  /// One after the other, each by a walk through the row for the first behind the one before.
  LogicalResult emitLoops(Operation *operation, KernelBuilder &k) const {
    auto op = cast<TopKOp>(operation);
    k.parallelNest(k.sizes(k.buffer(op.getInput()), 1),
                   [&](ValueRange row) { emitRow(op, k, row); });
    return success();
  }

private:
  static void emitRow(TopKOp op, KernelBuilder &k, ValueRange row) {
    RankedRow ranked(op, k, row);
    Value values = k.outputs[0], indices = k.outputs[1], zero = k.index(0);
    Value end = k.size(values, row.size());
    Value kept = op.getGroups() > 1 ? ranked.chooseGroups() : Value();
    SmallVector<Value> from = ranked.first();
    from.push_back(k.real(ranked.getType(), op.getNormalized() ? TopKOp::kLeastSum : 0));
    auto choose = [&](Value s, ValueRange last) -> SmallVector<Value> {
      Placed next = ranked.findNext(zero, ranked.size(), {last[0], last[1]}, kept);
      Value place = arith::IndexCastOp::create(k, k.getI64Type(), next.place);
      memref::StoreOp::create(k, place, indices, append(row, s));
      Value element = ranked.element(next.place);
      if (!op.getNormalized())
        k.storeTo(values, append(row, s), element);
      return {next.number, next.place, arith::AddFOp::create(k, last[2], element)};
    };
    Value sum = k.loopCarried(zero, end, from, choose).back();
    if (!op.getNormalized())
      return;
    k.loop(zero, end, [&](Value s) {
      Value place = k.toIndex(k.load(indices, append(row, s)));
      Value part = arith::DivFOp::create(k, ranked.element(place), sum);
      k.storeTo(values, append(row, s), part);
    });
  }
};

/// All axes of a buffer of integers as one.
static Value flatten(KernelBuilder &k, Value memory) {
  int64_t rank = cast<MemRefType>(memory.getType()).getRank();
  return rank == 1 ? memory
                   : memref::CollapseShapeOp::create(k, memory, getAllAxes(rank)).getResult();
}

/// Element number `at` of a buffer that may be a view with strides.
static Value loadAt(KernelBuilder &k, Value memory, Value at) {
  SmallVector<Value> indices(cast<MemRefType>(memory.getType()).getRank());
  for (size_t axis = indices.size(); axis-- > 1;) {
    Value size = k.size(memory, axis);
    indices[axis] = arith::RemUIOp::create(k, at, size);
    at = arith::DivUIOp::create(k, at, size);
  }
  indices.front() = at;
  return k.load(memory, indices);
}

struct EqualOffsetsKernel : KernelOpInterface::ExternalModel<EqualOffsetsKernel, EqualOffsetsOp> {
  LogicalResult emitLoops(Operation *operation, KernelBuilder &k) const {
    // A constant stands inside of the group.
    Value rows = k.cloneIn(cast<EqualOffsetsOp>(operation).getRows());
    Value offsets = k.outputs[0];
    k.parallelNest(k.size(offsets, 0), [&](ValueRange part) {
      Value at = arith::MulIOp::create(k, part[0], rows);
      memref::StoreOp::create(k, arith::IndexCastOp::create(k, k.getI64Type(), at), offsets, part);
    });
    return success();
  }
};

/// Each expert finds its own pairs: it counts those of experts before it, and then places its own.
struct DispatchKernel : KernelOpInterface::ExternalModel<DispatchKernel, DispatchOp> {
  LogicalResult emitLoops(Operation *operation, KernelBuilder &k) const {
    auto op = cast<DispatchOp>(operation);
    Value experts = k.buffer(op.getExperts()), tokens = flatten(k, k.outputs[0]),
          places = flatten(k, k.outputs[1]), offsets = k.outputs[2];
    auto type = cast<MemRefType>(experts.getType());
    if (memref::CollapseShapeOp::isGuaranteedCollapsible(type, getAllAxes(type.getRank())))
      experts = flatten(k, experts);
    Value pairs = k.size(tokens, 0), zero = k.index(0), one = k.index(1);
    Value count = k.index(op.getNumExperts()), last = k.index(op.getNumExperts() - 1);
    Value each = k.index(op.getExperts().getType().getShape().back());
    k.parallelNest(count, [&](ValueRange expert) {
      auto asNumber = [&](Value index) -> Value {
        return arith::IndexCastOp::create(k, k.getI64Type(), index);
      };
      Value own = asNumber(expert[0]);
      auto carry = [&](Value from, function_ref<Value(Value, Value, Value)> next) {
        return k
            .loopCarried(zero, pairs, from,
                         [&](Value pair, ValueRange carried) -> SmallVector<Value> {
                           return {next(pair, loadAt(k, experts, pair), carried[0])};
                         })
            .front();
      };
      Value before = carry(zero, [&](Value, Value number, Value found) {
        return k.select(k.less(number, own), k.add(found, one), found);
      });
      Value end = carry(before, [&](Value pair, Value number, Value place) {
        auto store = [&](Value what, Value memory, Value at) {
          memref::StoreOp::create(k, asNumber(what), memory, at);
        };
        FaultOp::create(
            k, arith::CmpIOp::create(k, arith::CmpIPredicate::uge, k.toIndex(number), count));
        Value isOwn = arith::CmpIOp::create(k, arith::CmpIPredicate::eq, number, own);
        return k
            .branch(
                isOwn, k.getIndexType(),
                [&]() -> SmallVector<Value> {
                  store(arith::DivUIOp::create(k, pair, each), tokens, place);
                  store(place, places, pair);
                  return {k.add(place, one)};
                },
                [&]() -> SmallVector<Value> { return {place}; })
            .front();
      });
      memref::StoreOp::create(k, asNumber(before), offsets, expert);
      Value isLast = arith::CmpIOp::create(k, arith::CmpIPredicate::eq, expert[0], last);
      k.branch(
          isLast, {},
          [&]() -> SmallVector<Value> {
            memref::StoreOp::create(k, asNumber(end), offsets, count);
            return {};
          },
          [] { return SmallVector<Value>(); });
    });
    return success();
  }
};
} // namespace

//===-- Rows by numbers ----------------------------------------------------------------------===//

namespace {
/// Rows of a tensor whose leading axes are joined.
class RowReader {
public:
  /// Checks all numbers of the tile's rows.
  RowReader(TileBuilder &b, Value x, Value numbers) : b(b), x(b.joinedRows(b.k.buffer(x))) {
    Value height = b.atTop([&] { return b.k.size(this->x, 0); });
    b.checkNumbers(numbers, 0, height);
  }

  Value gather(Value numbers, TileColumns c) {
    Value view = b.atBlock([&] { return b.viewAt(x, {}, {0, 1}); });
    auto type = b.tileType(b.tileRows, c.width, elementOf(x));
    return tile::GatherOp::create(b.k, type, view, numbers, b.column(c));
  }

private:
  TileBuilder &b;
  Value x;
};
} // namespace

namespace {
struct GatherKernel : KernelOpInterface::ExternalModel<GatherKernel, GatherRowsOp> {
  TileElement emitTile(Operation *operation, TileBuilder &b, TileColumns c,
                       TileLeaves &leaves) const {
    auto op = cast<GatherRowsOp>(operation);
    RowReader rows(b, op.getInput(), op.getRows());
    return b.leaf(rows.gather(b.numbersOfRows(op.getRows(), 1), c), c.width, leaves);
  }

  Value countElements(Operation *op, CostBuilder &cost, OpOperand &operand) const {
    return operand.getOperandNumber() == 0 ? cost.elements(op->getResult(0)) : Value();
  }
};

struct CombineKernel : KernelOpInterface::ExternalModel<CombineKernel, CombineOp> {
  TileElement emitTile(Operation *operation, TileBuilder &b, TileColumns c,
                       TileLeaves &leaves) const {
    auto op = cast<CombineOp>(operation);
    RowReader rows(b, op.getInput(), op.getRows());
    KernelBuilder &k = b.k;
    Type type = getAccumulationType(op.getInput().getType());
    TileBuilder::Rows numbers = b.rowsOf(k.buffer(op.getRows())),
                      weights = b.rowsOf(k.buffer(op.getWeights()));
    TileElement sum;
    for (int64_t s = 0; s < op.getRows().getType().getShape().back(); ++s) {
      Value row = rows.gather(b.loadRows(numbers, k.index(s), 1), c);
      Value weight = b.loadRows(weights, k.index(s), 1);
      TileElement term = b.mul(b.convert(b.leaf(row, c.width, leaves), type),
                               b.convert(b.leaf(weight, c.width, leaves), type));
      sum = sum ? b.add(sum, term) : term;
    }
    return sum;
  }
};
} // namespace

void mlir::fovea::attachExpertKernels(MLIRContext &context) {
  TopKOp::attachInterface<TopKKernel>(context);
  DispatchOp::attachInterface<DispatchKernel>(context);
  EqualOffsetsOp::attachInterface<EqualOffsetsKernel>(context);
  GatherRowsOp::attachInterface<GatherKernel>(context);
  CombineOp::attachInterface<CombineKernel>(context);
}
