// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Products of few rows by rows of memory, as one query's scores are of keys: the depth lies in
// lanes of both operands, and the sums of as many products as a vector has lanes become one vector.
// Turning the rows, so that they lie in lanes themselves, takes four times the shuffles. A long
// depth is a loop, where a kernel says that it may (kSumAcrossAttr): several rows add up in another
// order. Refuses more rows, and depths that are no whole vectors or have an open end.
#include "lowering/CPU/TileLowering.h"
#include "lowering/Tile/Hints.h"

using namespace mlir;
using namespace mlir::fovea;
using namespace mlir::fovea::tile;

/// The most vectors of the depth that are written out, a product of each for each lane.
static constexpr int64_t kMostVectors = 16;

class TileLowering::LaneSums : Product {
public:
  LaneSums(TileLowering &t, DotOp dot)
      : Product(t, dot), pairs(addsPairs()), each(pairs ? 2 * lanes : lanes) {}

  /// Whether the depth is whole vectors of what lies beside each other in memory, few of them or
  /// equal parts of few.
  bool fits() {
    // Sums across fewer lanes are no tree.
    constexpr int64_t kLeastLanes = 4;
    source = findSource();
    if (!source || operands.lanesAxis != 0 || lanes < kLeastLanes ||
        !(pairs || typeOf(operands.other).getElementType().isF32()))
      return false;
    int64_t depth = typeOf(operands.lanes).getColumns();
    vectors = depth / each;
    for (written = std::min(vectors, kMostVectors); written > 1 && vectors % written != 0;)
      --written;
    bool isShort = vectors <= kMostVectors || (dot->hasAttr(kSumAcrossAttr) && written > 1);
    return t.isDirect(source, 1) && depth % each == 0 && isShort && countRows() > 0 &&
           !t.validAlong(operands.lanes, 1) && !t.validAlong(operands.other, 1);
  }

  void run() {
    valid = t.validAlong(source, 0);
    if (pairs || countFewRows() == 0)
      other = t.materialize(operands.other, 1);
    result = t.resultScratch(dot.getResult(), t.findDonor(dot.getAcc(), dot, type));
    SmallVector<int64_t> all = llvm::to_vector(llvm::seq(countRows()));
    // As many rows at once as registers hold the sums of.
    const size_t most = lanes >= 16 ? 2 : 1;
    t.forWholeOrPart(valid, layout, [&](bool whole) {
      for (ArrayRef<int64_t> left = all; !left.empty();
           left = left.drop_front(std::min(most, left.size())))
        walk(left.take_front(most), whole);
    });
  }

private:
  /// A tile's only row is computed whether it is there or not, of a copy then.
  int64_t countRows() {
    int64_t rows = countFewRows();
    bool isOne = dot->hasAttr(kSumAcrossAttr) && layout.axis == 1 && type.getRows() == 1 &&
                 type.getElementType().isF32();
    return rows == 0 && isOne ? 1 : rows;
  }

  /// Of the rows in memory: a load of floats, or of bytes without scales; else null.
  LoadOp findSource() {
    if (auto dequantize = operands.lanes.getDefiningOp<DequantizeOp>())
      return t.readsIntegers(dequantize, /*axis=*/0) ? dequantize.getLoad() : LoadOp();
    auto load = operands.lanes.getDefiningOp<LoadOp>();
    auto element = dyn_cast<FloatType>(typeOf(operands.lanes).getElementType());
    return load && element && element.getWidth() <= 32 ? load : LoadOp();
  }

  const ViewMemory &view() { return t.viewOf(source.getView()); }

  /// Vector v of a row in memory, behind the element `from`.
  Value load(Value place, Value from, int64_t v, bool fetches) {
    Value at = b.add(b.add(place, from), v * each);
    int64_t elementsOfLine = 64 * 8 / view().type.getIntOrFloatBitWidth();
    if (fetches && v * each % elementsOfLine == 0)
      t.prefetchNextRows(source, at);
    Value loaded = b.load(view().type, view().flat, at, each);
    if (pairs)
      return asPairs(b, loaded);
    return isa<FloatType>(view().type)
               ? b.convert(loaded, type.getElementType())
               : Value(arith::SIToFPOp::create(b, VectorType::get(lanes, type.getElementType()),
                                               loaded));
  }

  /// Vector v of a row of the other operand, behind the element `from`.
  Value readOther(int64_t row, Value from, int64_t v) {
    if (!other)
      return t.readVector(operands.other, 1, b.index(row), b.add(from, v * each));
    Value at = b.add(from, row * other->layout.pitch + v * each);
    if (!pairs)
      return t.readScratch(*other, typeOf(operands.other).getElementType(), at, each);
    return asPairs(b, b.load(b.getI16Type(), other->memory, at, each));
  }

  /// The row in memory at `inner`; past the last one it is that one.
  Value placeOf(Value inner, bool whole) {
    if (!whole || layout.inner % lanes != 0) {
      Value end = whole ? b.index(layout.inner) : valid;
      inner = b.minimum(inner, b.maximum(b.sub(end, b.index(1)), b.index(0)));
    }
    Value first[2] = {source.getRow(), source.getColumn()};
    return view().place(b, first, 1, inner, b.index(0));
  }

  /// Of `rows` the sums with the rows in memory first, first + 4, ... of the block at `inner`.
  SmallVector<Value> sumSome(ArrayRef<int64_t> rows, bool whole, Value inner, int64_t first) {
    int64_t count = lanes / 4;
    SmallVector<Value> places, units,
        none(rows.size() * count, b.zero(VectorType::get(lanes, type.getElementType())));
    for (int64_t i = 0; i < count; ++i)
      places.push_back(placeOf(b.add(inner, first + 4 * i), whole));
    SmallVector<Value> sums = b.loop(b.index(0), b.index(vectors * each), written * each, none,
                                     [&](Value from, ValueRange before) {
                                       SmallVector<Value> sums(before);
                                       for (int64_t v = 0; v < written; ++v)
                                         addVector(rows, places, from, v, sums);
                                       return sums;
                                     });
    for (size_t r = 0; r < rows.size(); ++r)
      units.push_back(b.sumToUnits(SmallVector<Value>(ArrayRef(sums).slice(r * count, count))));
    return units;
  }

  void addVector(ArrayRef<int64_t> rows, ArrayRef<Value> places, Value from, int64_t v,
                 MutableArrayRef<Value> sums) {
    for (auto [i, place] : llvm::enumerate(places)) {
      // The first walk fetches what the others read.
      Value y = load(place, from, v, rows.front() == 0);
      for (auto [r, row] : llvm::enumerate(rows)) {
        Value &sum = sums[r * places.size() + i];
        sum = pairs ? multiplyPairs(b, sum, readOther(row, from, v), y)
                    : b.mulAdd(readOther(row, from, v), y, sum);
      }
    }
  }

  /// All sums of `rows`.
  void walk(ArrayRef<int64_t> rows, bool whole) {
    b.loop(b.index(0), b.index(layout.pitch), lanes, [&](Value inner) {
      SmallVector<SmallVector<Value>> units(rows.size());
      for (int64_t first = 0; first < 4; ++first)
        for (auto [r, unit] : llvm::enumerate(sumSome(rows, whole, inner, first)))
          units[r].push_back(unit);
      for (auto [row, four] : llvm::zip(rows, units))
        writeSum(*result, row, inner, b.sumUnits(four));
    });
  }

  bool pairs;                           ///< of bf16
  int64_t each;                         ///< elements of a vector of operands
  int64_t vectors = 0, written = 0;     ///< of the depth, and those of them that are written out
  LoadOp source;                        ///< of the rows in memory
  Value valid;                          ///< how many of these there are; null: all
  std::optional<Scratch> other, result; ///< a copy of the other operand, if there is one
};

bool TileLowering::lowerLaneSums(DotOp dot) {
  LaneSums sums(*this, dot);
  if (!sums.fits())
    return false;
  sums.run();
  return true;
}
