// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Products of few rows of bf16 by pairs of rows in memory, as one query's weights are of values:
// two rows are interleaved as they are read, so that a word has what the instruction adds together.
// Columns lie in another order meanwhile, by units of four. Refuses targets without products of
// pairs.
#include "lowering/CPU/TileLowering.h"

using namespace mlir;
using namespace mlir::fovea;
using namespace mlir::fovea::tile;

/// The rows up to which interleaving for each of them costs less than packing pairs once for all.
static constexpr int64_t kMostRows = 4;

bool TileLowering::pairsRows(DotOp dot) {
  TileLayout layout = layoutOf(dot.getResult());
  DotOperands operands(dot, layout);
  auto load = operands.lanes.getDefiningOp<LoadOp>();
  auto isBF16 = [&](Value tile) { return typeOf(tile).getElementType().isBF16(); };
  return multipliesPairs() && lanes == 16 && layout.axis == 1 && operands.lanesAxis == 1 &&
         operands.otherAxis == 0 && load && isBF16(operands.lanes) && isBF16(operands.other) &&
         typeOf(dot.getResult()).getElementType().isF32() && isDirect(load, 1) &&
         typeOf(load).getColumns() % (2 * lanes) == 0 &&
         getConstant(endAlong(dot.getResult(), 0)).value_or(kMostRows + 1) <= kMostRows;
}

namespace {
/// The sums of a block of columns over a range of rows in memory, two vectors for each 32 columns.
class PairSums {
public:
  /// Reads element (row, column) of the operand in memory at `place(row) + column`.
  PairSums(Emitter &b, const ViewMemory &view, const Scratch &other, int64_t rows, int64_t columns,
           std::function<Value(Value)> place, std::function<void(Value)> fetch)
      : b(b), view(view), other(other), rows(rows), columns(columns), place(std::move(place)),
        fetch(std::move(fetch)) {}

  int64_t size() const { return rows * columns / kLanes; }

  /// Adds the products of rows k and k + 1, or of k alone.
  void add(Value k, bool isPair, MutableArrayRef<Value> sums) const {
    auto words = VectorType::get(2 * kLanes, b.getI16Type());
    SmallVector<Value> weights;
    for (int64_t row = 0; row < rows; ++row)
      weights.push_back(broadcast(row, k, isPair));
    Value first = place(k), second = isPair ? place(b.add(k, 1)) : Value();
    for (int64_t chunk = 0; chunk < columns; chunk += 2 * kLanes) {
      auto load = [&](Value row) -> Value {
        Value at = b.add(row, chunk);
        fetch(at);
        return vector::BitCastOp::create(b, words, b.load(view.type, view.flat, at, 2 * kLanes));
      };
      Value low = load(first), high = isPair ? load(second) : b.zero(words);
      for (int64_t half : {0, 1}) {
        Value pairs = interleave(low, high, half);
        for (int64_t row = 0; row < rows; ++row) {
          Value &sum = sums[(row * columns + chunk) / kLanes + half];
          sum = multiplyPairs(b, sum, weights[row], pairs);
        }
      }
    }
  }

  /// The columns from 32 `chunk` on in their order.
  std::array<Value, 2> inOrder(ArrayRef<Value> sums, int64_t row, int64_t chunk) const {
    const Value *two = &sums[row * columns / kLanes + 2 * chunk];
    std::array<Value, 2> result;
    for (int64_t half : {0, 1}) {
      SmallVector<int64_t> lanes;
      for (int64_t unit : {2 * half, 2 * half + 1})
        for (int64_t from : {4 * unit, kLanes + 4 * unit})
          for (int64_t i = 0; i < 4; ++i)
            lanes.push_back(from + i);
      result[half] = vector::ShuffleOp::create(b, two[0], two[1], lanes);
    }
    return result;
  }

private:
  static constexpr int64_t kLanes = 16;

  Value asPairs(Value bits) const {
    return vector::BitCastOp::create(b, VectorType::get(2 * kLanes, b.getBF16Type()), bits);
  }

  /// Of each unit of eight columns four pairs.
  Value interleave(Value low, Value high, int64_t half) const {
    SmallVector<int64_t> order;
    for (int64_t unit = 0; unit < 2 * kLanes; unit += 8)
      for (int64_t i = 0; i < 4; ++i) {
        order.push_back(unit + 4 * half + i);
        order.push_back(2 * kLanes + unit + 4 * half + i);
      }
    return asPairs(vector::ShuffleOp::create(b, low, high, order));
  }

  Value broadcast(int64_t row, Value k, bool isPair) const {
    Value at = b.add(k, row * other.layout.pitch), bits;
    if (isPair) {
      Value pair = b.load(b.getI16Type(), other.memory, at, 2);
      auto one = VectorType::get(1, b.getI32Type());
      bits = vector::ExtractOp::create(b, vector::BitCastOp::create(b, one, pair), 0);
    } else {
      bits = arith::ExtUIOp::create(b, b.getI32Type(), memref::LoadOp::create(b, other.memory, at));
    }
    return asPairs(b.splat(bits, kLanes));
  }

  Emitter &b;
  const ViewMemory &view;
  const Scratch &other;
  int64_t rows, columns;
  std::function<Value(Value)> place;
  std::function<void(Value)> fetch;
};
} // namespace

void TileLowering::lowerRowPairs(DotOp dot) {
  TileType type = dot.getResult().getType();
  TileLayout layout = layoutOf(dot.getResult());
  DotOperands operands(dot, layout);
  auto load = operands.lanes.getDefiningOp<LoadOp>();
  const ViewMemory view = viewOf(load.getView());
  int64_t rows = *getConstant(endAlong(dot.getResult(), 0)), columns = type.getColumns();
  Value depth = b.index(typeOf(load).getRows());
  for (Value known : {validAlong(load, 0), validAlong(operands.other, 1)})
    if (known)
      depth = b.minimum(depth, known);
  Scratch other = materialize(operands.other, 1);
  Scratch result = resultScratch(dot.getResult(), findDonor(dot.getAcc(), dot, type));
  // Few sums are two chains of additions, so that none waits for the one before.
  int64_t size = 2 * lanes;
  for (int64_t larger : {4 * lanes, 8 * lanes})
    if (columns % larger == 0 && rows * larger <= 16 * lanes)
      size = larger;
  int64_t chains = rows * size <= 4 * lanes ? 2 : 1;
  for (int64_t column = 0; column < columns; column += size) {
    Value first[2] = {load.getRow(), b.add(load.getColumn(), column)};
    PairSums sums(
        b, view, other, rows, size, [&](Value k) { return view.place(b, first, 1, k, b.index(0)); },
        [&](Value at) { prefetchNextRows(load, at); });
    SmallVector<Value> all(chains * sums.size(),
                           b.zero(VectorType::get(lanes, type.getElementType())));
    Value done = b.index(0);
    for (int64_t step : {2 * chains, int64_t(2)}) {
      Value end = b.sub(depth, b.rem(depth, step));
      all = b.loop(done, end, step, all, [&](Value k, ValueRange carried) {
        SmallVector<Value> next(carried);
        for (int64_t i = 0; i < step / 2; ++i)
          sums.add(b.add(k, 2 * i), true,
                   MutableArrayRef(next).slice(i * sums.size(), sums.size()));
        return next;
      });
      done = end;
    }
    all = b.loop(done, depth, 1, all, [&](Value k, ValueRange carried) {
      SmallVector<Value> next(carried);
      sums.add(k, false, MutableArrayRef(next).take_front(sums.size()));
      return next;
    });
    for (int64_t i = 0; i < sums.size() && chains > 1; ++i)
      all[i] = arith::AddFOp::create(b, all[i], all[sums.size() + i]);
    for (int64_t row = 0; row < rows; ++row)
      for (int64_t chunk = 0; chunk < size / (2 * lanes); ++chunk)
        for (auto [half, sum] : llvm::enumerate(sums.inOrder(all, row, chunk))) {
          Value inner = b.index(column + (2 * chunk + half) * lanes);
          if (dot.getAcc())
            sum = arith::AddFOp::create(b, sum, readVector(dot.getAcc(), 1, b.index(row), inner));
          write(result, b.index(row), inner, sum);
        }
  }
}
