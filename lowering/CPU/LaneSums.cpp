// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Products of few rows by rows of memory, as one query's scores are of keys: the depth lies in
// lanes of both operands, and the sums of as many products as a vector has lanes become one vector.
// Turning the rows, so that they lie in lanes themselves, takes four times the shuffles.
#include "lowering/CPU/TileLowering.h"

using namespace mlir;
using namespace mlir::fovea;
using namespace mlir::fovea::tile;

/// The rows up to which the sums of each cost less than turning the other operand once for all.
static constexpr int64_t kMostRows = 4;

/// The most vectors of the depth: of each one product is written out for each lane.
static constexpr int64_t kMostVectors = 16;

/// What is read along its rows: a load of floats, or of bytes without scales. Null if it is
/// neither, or if its rows are not beside each other in memory, whole vectors of them.
static LoadOp findRows(Value tile, function_ref<bool(DequantizeOp)> readsIntegers) {
  if (auto dequantize = tile.getDefiningOp<DequantizeOp>())
    return readsIntegers(dequantize) ? dequantize.getLoad() : LoadOp();
  auto load = tile.getDefiningOp<LoadOp>();
  bool isFloat = load && isa<FloatType>(load.getTile().getType().getElementType());
  return isFloat && load.getTile().getType().getElementType().getIntOrFloatBitWidth() <= 32
             ? load
             : LoadOp();
}

/// Whether both operands are bf16, of which one instruction adds two products.
bool TileLowering::addsPairs(DotOp dot) {
  auto isBF16 = [&](Value tile) { return typeOf(tile).getElementType().isBF16(); };
  return multipliesPairs() && lanes == 16 && isBF16(dot.getA()) && isBF16(dot.getB());
}

bool TileLowering::sumsLanes(DotOp dot) {
  TileLayout layout = layoutOf(dot.getResult());
  DotOperands operands(dot, layout);
  // Sums across fewer lanes are no tree.
  constexpr int64_t kLeastLanes = 4;
  bool pairs = addsPairs(dot);
  if (layout.axis != 1 || operands.lanesAxis != 0 || lanes < kLeastLanes ||
      !typeOf(dot.getResult()).getElementType().isF32() ||
      !(pairs || typeOf(operands.other).getElementType().isF32()))
    return false;
  LoadOp load =
      findRows(operands.lanes, [&](DequantizeOp op) { return readsIntegers(op, /*axis=*/0); });
  int64_t depth = typeOf(operands.lanes).getColumns();
  int64_t size = pairs ? 2 * lanes : lanes;
  return load && isDirect(load, 1) && depth % size == 0 && depth / size <= kMostVectors &&
         getConstant(endAlong(dot.getResult(), 0)).value_or(kMostRows + 1) <= kMostRows &&
         !validAlong(operands.lanes, 1) && !validAlong(operands.other, 1);
}

/// Lowers one product.
class TileLowering::LaneSums {
public:
  LaneSums(TileLowering &t, DotOp dot)
      : t(t), b(t.b), lanes(t.lanes), dot(dot), type(dot.getResult().getType()),
        layout(t.layoutOf(dot.getResult())), operands(dot, layout), pairs(t.addsPairs(dot)),
        each(pairs ? 2 * lanes : lanes), source(operands.lanes.getDefiningOp<LoadOp>()) {
    if (!source)
      source = operands.lanes.getDefiningOp<DequantizeOp>().getLoad();
    valid = t.validAlong(source, 0);
    if (pairs)
      halves = t.materialize(operands.other, 1);
  }

  void run() {
    result = t.resultScratch(dot.getResult(), t.findDonor(dot.getAcc(), dot, type));
    SmallVector<int64_t> all =
        llvm::to_vector(llvm::seq(*getConstant(t.endAlong(dot.getResult(), 0))));
    // As many rows at once as registers hold the sums of.
    const size_t most = lanes >= 16 ? 2 : 1;
    t.forWholeOrPart(valid, layout, [&](bool whole) {
      for (ArrayRef<int64_t> left = all; !left.empty();
           left = left.drop_front(std::min(most, left.size())))
        walk(left.take_front(most), whole);
    });
  }

private:
  const ViewMemory &view() { return t.viewOf(source.getView()); }

  Value asPairs(Value bits) {
    return vector::BitCastOp::create(b, VectorType::get(each, b.getBF16Type()), bits);
  }

  /// Vector v of a row in memory.
  Value load(Value place, int64_t v, bool fetches) {
    Value at = b.add(place, v * each);
    int64_t elementsOfLine = 64 * 8 / view().type.getIntOrFloatBitWidth();
    if (fetches && v * each % elementsOfLine == 0)
      t.prefetchNextRows(source, at);
    Value loaded = b.load(view().type, view().flat, at, each);
    if (pairs)
      return asPairs(loaded);
    return isa<FloatType>(view().type)
               ? b.convert(loaded, type.getElementType())
               : Value(arith::SIToFPOp::create(b, VectorType::get(lanes, type.getElementType()),
                                               loaded));
  }

  /// Vector v of a row of the other operand.
  Value readOther(int64_t row, int64_t v) {
    if (!pairs)
      return t.readVector(operands.other, 1, b.index(row), b.index(v * each));
    Value at = b.index(row * halves->layout.pitch + v * each);
    return asPairs(b.load(b.getI16Type(), halves->memory, at, each));
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
    int64_t count = lanes / 4, vectors = typeOf(source).getColumns() / each;
    SmallVector<Value> places, units,
        sums(rows.size() * count, b.zero(VectorType::get(lanes, type.getElementType())));
    for (int64_t i = 0; i < count; ++i)
      places.push_back(placeOf(b.add(inner, first + 4 * i), whole));
    for (int64_t v = 0; v < vectors; ++v)
      for (int64_t i = 0; i < count; ++i) {
        // The first walk fetches what the others read.
        Value y = load(places[i], v, rows.front() == 0);
        for (auto [r, row] : llvm::enumerate(rows)) {
          Value &sum = sums[r * count + i];
          sum = pairs ? multiplyPairs(b, sum, readOther(row, v), y)
                      : b.mulAdd(readOther(row, v), y, sum);
        }
      }
    for (size_t r = 0; r < rows.size(); ++r)
      units.push_back(b.sumToUnits(SmallVector<Value>(ArrayRef(sums).slice(r * count, count))));
    return units;
  }

  /// All sums of `rows`.
  void walk(ArrayRef<int64_t> rows, bool whole) {
    b.loop(b.index(0), b.index(layout.pitch), lanes, [&](Value inner) {
      SmallVector<SmallVector<Value>> units(rows.size());
      for (int64_t first = 0; first < 4; ++first)
        for (auto [r, unit] : llvm::enumerate(sumSome(rows, whole, inner, first)))
          units[r].push_back(unit);
      for (auto [row, four] : llvm::zip(rows, units)) {
        Value all = b.sumUnits(four);
        if (dot.getAcc())
          all = arith::AddFOp::create(b, all, t.readVector(dot.getAcc(), 1, b.index(row), inner));
        t.write(*result, b.index(row), inner, all);
      }
    });
  }

  TileLowering &t;
  Emitter &b;
  int64_t lanes;
  DotOp dot;
  TileType type;
  TileLayout layout;
  DotOperands operands;
  bool pairs;    ///< of bf16
  int64_t each;  ///< elements of a vector of operands
  LoadOp source; ///< of the rows in memory
  Value valid;   ///< how many of these there are; null: all
  std::optional<Scratch> halves, result;
};

void TileLowering::lowerLaneSums(DotOp dot) { LaneSums(*this, dot).run(); }
