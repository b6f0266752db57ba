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

struct TopKKernel : KernelOpInterface::ExternalModel<TopKKernel, TopKOp> {
  /// One after the other, each by a walk through the row for the first behind the one before.
  LogicalResult emitLoops(Operation *operation, KernelBuilder &k) const {
    Value x = k.buffer(cast<TopKOp>(operation).getInput());
    Value values = k.outputs[0], indices = k.outputs[1];
    constexpr double kInfinity = std::numeric_limits<double>::infinity();
    Type type = getAccumulationType(elementOf(x));
    k.parallelNest(k.sizes(x, 1), [&](ValueRange row) {
      Value end = k.size(values, row.size());
      k.loopCarried(k.index(0), end, {k.real(type, kInfinity), k.index(-1)},
                    [&](Value s, ValueRange last) -> SmallVector<Value> {
                      Placed next = findNext(k, x, row, {last[0], last[1]});
                      Value place = arith::IndexCastOp::create(k, k.getI64Type(), next.place);
                      memref::StoreOp::create(k, place, indices, append(row, s));
                      Value element = k.load(x, append(row, next.place));
                      memref::StoreOp::create(k, element, values, append(row, s));
                      return {next.number, next.place};
                    });
    });
    return success();
  }

private:
  static Placed findNext(KernelBuilder &k, Value x, ValueRange row, Placed last) {
    Type type = last.number.getType();
    Value lowest = k.real(type, -std::numeric_limits<double>::infinity()), none = k.index(-1);
    SmallVector<Value> found = k.loopCarried(
        k.index(0), k.size(x, row.size()), {lowest, none},
        [&](Value i, ValueRange best) -> SmallVector<Value> {
          auto compare = [&](arith::CmpFPredicate predicate, Value l, Value r) -> Value {
            return arith::CmpFOp::create(k, predicate, l, r);
          };
          auto both = [&](Value l, Value r) -> Value { return arith::AndIOp::create(k, l, r); };
          auto either = [&](Value l, Value r) -> Value { return arith::OrIOp::create(k, l, r); };
          Value element = k.loadAs(type, x, append(row, i));
          Value isNumber = compare(arith::CmpFPredicate::ORD, element, element);
          Value number = k.select(isNumber, element, lowest);
          Value equals = compare(arith::CmpFPredicate::OEQ, number, last.number);
          Value isBehind = either(k.less(number, last.number), both(equals, k.less(last.place, i)));
          Value isFirst = either(k.less(best[0], number), k.less(best[1], k.index(0)));
          Value isNew = both(isBehind, isFirst);
          return {k.select(isNew, number, best[0]), k.select(isNew, i, best[1])};
        });
    return {found[0], found[1]};
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
  GatherRowsOp::attachInterface<GatherKernel>(context);
  CombineOp::attachInterface<CombineKernel>(context);
}
