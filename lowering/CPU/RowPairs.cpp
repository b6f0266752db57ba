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
    result = t.resultScratch(dot.getResult(), t.findDonor(dot.getAcc(), dot, type));
    most = std::min(rows, kRowsOfBlock);
    size = kChunk;
    for (int64_t larger : {2 * kChunk, 4 * kChunk})
      if (type.getColumns() % larger == 0 && most * larger <= 8 * kChunk)
        size = larger;
    Block all{b.index(0), most, b.index(0), /*fetches=*/true};
    if (rows == most && type.getColumns() == size)
      return finish(all, sumAll(all));
    runParts();
  }

private:
  static constexpr int64_t kChunk = 32;      ///< columns whose sums are two vectors
  static constexpr int64_t kRowsOfBlock = 4; ///< of the result

  /// Rows and columns of the result whose sums are in registers together.
  struct Block {
    Value row;
    int64_t rows;
    Value column;
    bool fetches; ///< what the others read, too
  };

  /// Where the sums of a row and a chunk of columns are among all those of a block.
  int64_t placeOf(int64_t row, int64_t chunk) const { return (row * size + chunk) / lanes; }

  /// Those of the only block.
  SmallVector<Value> sumAll(const Block &block) {
    // Few sums are two chains of additions, so that none waits for the one before.
    int64_t count = placeOf(most, 0), chains = count <= 4 ? 2 : 1;
    SmallVector<Value> all(chains * count, b.zero(VectorType::get(lanes, type.getElementType())));
    all = sumRows(block, b.index(0), depth, chains, all);
    for (int64_t i = 0; i < count && chains > 1; ++i)
      all[i] = arith::AddFOp::create(b, all[i], all[count + i]);
    return all;
  }

  /// Some rows in memory for all blocks before the next: so memory is read as it lies, whose rows
  /// the nearest cache holds meanwhile.
  void runParts() {
    constexpr int64_t kPart = 16;
    Type element = type.getElementType();
    TileLayout layout(TileType::get(rows, type.getColumns(), element), lanes);
    Scratch memory{t.allocate(element, layout), layout};
    auto rowOf = [&](const Block &block, int64_t i) { return b.add(block.row, i * lanes / size); };
    auto columnOf = [&](const Block &block, int64_t i) {
      return b.add(block.column, i * lanes % size);
    };
    auto read = [&](const Block &block) {
      SmallVector<Value> sums;
      for (int64_t i = 0; i < placeOf(block.rows, 0); ++i) {
        Value at = b.add(b.mul(rowOf(block, i), layout.pitch), columnOf(block, i));
        sums.push_back(t.readScratch(memory, element, at, lanes));
      }
      return sums;
    };
    auto write = [&](const Block &block, ArrayRef<Value> sums) {
      for (int64_t i = 0; i < placeOf(block.rows, 0); ++i)
        t.write(memory, rowOf(block, i), columnOf(block, i), sums[i]);
    };
    t.clear(memory, element, b.index(0));
    b.loop(b.index(0), depth, kPart, [&](Value begin) {
      Value end = b.minimum(b.add(begin, kPart), depth);
      forEachBlock([&](const Block &block) {
        write(block, sumRows(block, begin, end, /*chains=*/1, read(block)));
      });
    });
    forEachBlock([&](const Block &block) { finish(block, read(block)); });
  }

  void forEachBlock(function_ref<void(const Block &)> body) {
    forSomeRows(rows, most, [&](Value first, int64_t count, bool fetches) {
      b.loop(b.index(0), b.index(type.getColumns()), size,
             [&](Value column) { body({first, count, column, fetches}); });
    });
  }

  /// `all` and the products of the rows in memory from `begin` to `end`, in as many chains.
  SmallVector<Value> sumRows(const Block &block, Value begin, Value end, int64_t chains,
                             SmallVector<Value> all) {
    int64_t count = placeOf(block.rows, 0);
    for (int64_t step = 2 * chains; step >= 2; step /= 2) {
      Value whole = b.sub(end, b.rem(b.sub(end, begin), step));
      all = b.loop(begin, whole, step, all, [&](Value k, ValueRange carried) {
        SmallVector<Value> next(carried);
        for (int64_t i = 0; i < step / 2; ++i)
          add(block, b.add(k, 2 * i), true, MutableArrayRef(next).slice(i * count, count));
        return next;
      });
      begin = whole;
    }
    return b.loop(begin, end, 1, all, [&](Value k, ValueRange carried) {
      SmallVector<Value> next(carried);
      add(block, k, false, MutableArrayRef(next).take_front(count));
      return next;
    });
  }

  /// Stores a block's sums.
  void finish(const Block &block, ArrayRef<Value> sums) {
    for (int64_t r = 0; r < block.rows; ++r)
      for (int64_t chunk = 0; chunk < size; chunk += kChunk)
        for (auto [half, sum] : llvm::enumerate(inOrder(sums, r, chunk)))
          writeSum(*result, b.add(block.row, r),
                   b.add(block.column, chunk + static_cast<int64_t>(half) * lanes), sum);
  }

  /// Adds the products of rows k and k + 1, or of k alone.
  void add(const Block &block, Value k, bool isPair, MutableArrayRef<Value> sums) {
    const ViewMemory &view = t.viewOf(load.getView());
    auto words = VectorType::get(kChunk, b.getI16Type());
    Value corner[2] = {load.getRow(), b.add(load.getColumn(), block.column)};
    auto placeOfRow = [&](Value row) { return view.place(b, corner, 1, row, b.index(0)); };
    SmallVector<Value> weights;
    for (int64_t row = 0; row < block.rows; ++row) {
      Value from = b.mul(b.add(block.row, row), other->layout.pitch);
      weights.push_back(broadcastPair(b, other->memory, b.add(from, k), isPair, lanes));
    }
    auto read = [&](Value row, int64_t chunk) -> Value {
      Value at = b.add(row, chunk);
      if (block.fetches)
        t.prefetchRows(load, at);
      return vector::BitCastOp::create(b, words, b.load(view.type, view.flat, at, kChunk));
    };
    // Memory is read as it lies: the processor foresees no other order.
    SmallVector<Value> lows;
    Value first = placeOfRow(k), second = isPair ? placeOfRow(b.add(k, 1)) : Value();
    for (int64_t chunk = 0; chunk < size; chunk += kChunk)
      lows.push_back(read(first, chunk));
    b.keepOrder();
    for (int64_t chunk = 0; chunk < size; chunk += kChunk) {
      Value low = lows[chunk / kChunk], high = isPair ? read(second, chunk) : b.zero(words);
      for (int64_t half : {0, 1}) {
        Value pairs = interleave(low, high, half);
        for (int64_t row = 0; row < block.rows; ++row) {
          Value &sum = sums[placeOf(row, chunk) + half];
          sum = multiplyPairs(b, sum, weights[row], pairs);
        }
      }
    }
    b.keepOrder();
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
  int64_t rows;       ///< of the result
  int64_t most, size; ///< rows and columns of a block
  Value depth;        ///< how many rows in memory there are
  std::optional<Scratch> other, result;
};

bool TileLowering::lowerRowPairs(DotOp dot) {
  RowPairs pairs(*this, dot);
  if (!pairs.fits())
    return false;
  pairs.run();
  return true;
}
