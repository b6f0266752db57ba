// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Products of few rows of bf16 by pairs of rows in memory, as one query's weights are of values:
// two rows are interleaved as they are read, so that a word has what the instruction adds together.
// Columns lie in another order meanwhile, by units of four. Refuses targets without products of
// pairs and those with shorter vectors, more rows, and columns that are no whole vectors of them.
#include "lowering/CPU/TileLowering.h"

using namespace mlir;
using namespace mlir::fovea;
using namespace mlir::fovea::tile;

class TileLowering::RowPairs : Product {
public:
  RowPairs(TileLowering &t, DotOp dot)
      : Product(t, dot), load(operands.lanes.getDefiningOp<LoadOp>()) {}

  bool fits() {
    return load && addsPairs() && kChunk == 2 * lanes && operands.lanesAxis == 1 &&
           operands.otherAxis == 0 && t.isDirect(load, 1) && type.getColumns() % kChunk == 0 &&
           countFewRows() > 0;
  }

  void run() {
    rows = countFewRows();
    depth = b.index(typeOf(load).getRows());
    for (Value known : {t.validAlong(load, 0), t.validAlong(operands.other, 1)})
      if (known)
        depth = b.minimum(depth, known);
    other = t.materialize(operands.other, 1);
    Scratch result = t.resultScratch(dot.getResult(), t.findDonor(dot.getAcc(), dot, type));
    size = kChunk;
    for (int64_t larger : {2 * kChunk, 4 * kChunk})
      if (type.getColumns() % larger == 0 && rows * larger <= 8 * kChunk)
        size = larger;
    for (int64_t column = 0; column < type.getColumns(); column += size) {
      SmallVector<Value> sums = sumColumns(column);
      for (int64_t row = 0; row < rows; ++row)
        for (int64_t chunk = 0; chunk < size; chunk += kChunk)
          for (auto [half, sum] : llvm::enumerate(inOrder(sums, row, chunk)))
            writeSum(result, row, b.index(column + chunk + half * lanes), sum);
    }
  }

private:
  static constexpr int64_t kChunk = 32; ///< columns whose sums are two vectors

  /// Where those of a row and a chunk of columns are among all sums of a block.
  int64_t placeOf(int64_t row, int64_t chunk) const { return (row * size + chunk) / lanes; }

  /// Those of a block of columns over the whole depth.
  SmallVector<Value> sumColumns(int64_t column) {
    // Few sums are two chains of additions, so that none waits for the one before.
    int64_t count = placeOf(rows, 0), chains = count <= 4 ? 2 : 1;
    SmallVector<Value> all(chains * count, b.zero(VectorType::get(lanes, type.getElementType())));
    Value done = b.index(0);
    for (int64_t step : {2 * chains, int64_t(2)}) {
      Value end = b.sub(depth, b.rem(depth, step));
      all = b.loop(done, end, step, all, [&](Value k, ValueRange carried) {
        SmallVector<Value> next(carried);
        for (int64_t i = 0; i < step / 2; ++i)
          add(column, b.add(k, 2 * i), true, MutableArrayRef(next).slice(i * count, count));
        return next;
      });
      done = end;
    }
    all = b.loop(done, depth, 1, all, [&](Value k, ValueRange carried) {
      SmallVector<Value> next(carried);
      add(column, k, false, MutableArrayRef(next).take_front(count));
      return next;
    });
    for (int64_t i = 0; i < count && chains > 1; ++i)
      all[i] = arith::AddFOp::create(b, all[i], all[count + i]);
    return all;
  }

  /// Adds the products of rows k and k + 1, or of k alone.
  void add(int64_t column, Value k, bool isPair, MutableArrayRef<Value> sums) {
    const ViewMemory &view = t.viewOf(load.getView());
    auto words = VectorType::get(kChunk, b.getI16Type());
    Value corner[2] = {load.getRow(), b.add(load.getColumn(), column)};
    auto placeOfRow = [&](Value row) { return view.place(b, corner, 1, row, b.index(0)); };
    SmallVector<Value> weights;
    for (int64_t row = 0; row < rows; ++row)
      weights.push_back(
          broadcastPair(b, other->memory, b.add(k, row * other->layout.pitch), isPair, lanes));
    Value first = placeOfRow(k), second = isPair ? placeOfRow(b.add(k, 1)) : Value();
    for (int64_t chunk = 0; chunk < size; chunk += kChunk) {
      auto read = [&](Value row) -> Value {
        Value at = b.add(row, chunk);
        t.prefetchNextRows(load, at);
        return vector::BitCastOp::create(b, words, b.load(view.type, view.flat, at, kChunk));
      };
      Value low = read(first), high = isPair ? read(second) : b.zero(words);
      for (int64_t half : {0, 1}) {
        Value pairs = interleave(low, high, half);
        for (int64_t row = 0; row < rows; ++row) {
          Value &sum = sums[placeOf(row, chunk) + half];
          sum = multiplyPairs(b, sum, weights[row], pairs);
        }
      }
    }
  }

  /// Of each unit of eight columns four pairs.
  Value interleave(Value low, Value high, int64_t half) {
    SmallVector<int64_t> order;
    for (int64_t unit = 0; unit < kChunk; unit += 8)
      for (int64_t i = 0; i < 4; ++i) {
        order.push_back(unit + 4 * half + i);
        order.push_back(kChunk + unit + 4 * half + i);
      }
    return asPairs(b, vector::ShuffleOp::create(b, low, high, order));
  }

  /// A chunk's sums with its columns in their order.
  std::array<Value, 2> inOrder(ArrayRef<Value> sums, int64_t row, int64_t chunk) {
    std::array<Value, 2> result;
    for (int64_t half : {0, 1}) {
      SmallVector<int64_t> order;
      for (int64_t unit : {2 * half, 2 * half + 1})
        for (int64_t from : {4 * unit, lanes + 4 * unit})
          for (int64_t i = 0; i < 4; ++i)
            order.push_back(from + i);
      int64_t place = placeOf(row, chunk);
      result[half] = vector::ShuffleOp::create(b, sums[place], sums[place + 1], order);
    }
    return result;
  }

  LoadOp load;        ///< of the rows in memory
  int64_t rows, size; ///< of the result, and columns of a block
  Value depth;        ///< how many rows in memory there are
  std::optional<Scratch> other;
};

bool TileLowering::lowerRowPairs(DotOp dot) {
  RowPairs pairs(*this, dot);
  if (!pairs.fits())
    return false;
  pairs.run();
  return true;
}
