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

bool TileLowering::sumsLanes(DotOp dot) {
  TileLayout layout = layoutOf(dot.getResult());
  DotOperands operands(dot, layout);
  // Sums across fewer lanes are no tree.
  constexpr int64_t kLeastLanes = 4;
  if (layout.axis != 1 || operands.lanesAxis != 0 || lanes < kLeastLanes ||
      !typeOf(dot.getResult()).getElementType().isF32() ||
      !typeOf(operands.other).getElementType().isF32())
    return false;
  LoadOp load =
      findRows(operands.lanes, [&](DequantizeOp op) { return readsIntegers(op, /*axis=*/0); });
  int64_t depth = typeOf(operands.lanes).getColumns();
  return load && isDirect(load, 1) && depth % lanes == 0 && depth / lanes <= kMostVectors &&
         getConstant(endAlong(dot.getResult(), 0)).value_or(kMostRows + 1) <= kMostRows &&
         !validAlong(operands.lanes, 1) && !validAlong(operands.other, 1);
}

void TileLowering::lowerLaneSums(DotOp dot) {
  TileType type = dot.getResult().getType();
  TileLayout layout = layoutOf(dot.getResult());
  DotOperands operands(dot, layout);
  auto source = operands.lanes.getDefiningOp<LoadOp>();
  if (!source)
    source = operands.lanes.getDefiningOp<DequantizeOp>().getLoad();
  const ViewMemory view = viewOf(source.getView());
  int64_t rows = *getConstant(endAlong(dot.getResult(), 0));
  int64_t vectors = typeOf(source).getColumns() / lanes;
  int64_t elementsOfLine = 64 * 8 / view.type.getIntOrFloatBitWidth();
  Value corner[2] = {source.getRow(), source.getColumn()}, valid = validAlong(source, 0);
  Scratch result = resultScratch(dot.getResult(), findDonor(dot.getAcc(), dot, type));
  Type sum = type.getElementType();
  auto load = [&](Value place, int64_t v, bool isFirst) {
    Value at = b.add(place, v * lanes);
    if (isFirst && v * lanes % elementsOfLine == 0)
      prefetchNextRows(source, at);
    Value loaded = b.load(view.type, view.flat, at, lanes);
    return isa<FloatType>(view.type)
               ? b.convert(loaded, sum)
               : Value(arith::SIToFPOp::create(b, VectorType::get(lanes, sum), loaded));
  };
  // Of `rows` the sums with the rows in memory first, first + 4, ... of the block at `inner`.
  auto sumSome = [&](ArrayRef<int64_t> rows, bool whole, Value inner, int64_t first) {
    int64_t count = lanes / 4;
    SmallVector<Value> places, units,
        sums(rows.size() * count, b.zero(VectorType::get(lanes, sum)));
    for (int64_t i = 0; i < count; ++i) {
      Value at = b.add(inner, first + 4 * i);
      // Rows past the last are computed as that one.
      if (!whole || layout.inner % lanes != 0) {
        Value end = whole ? b.index(layout.inner) : valid;
        at = b.minimum(at, b.maximum(b.sub(end, b.index(1)), b.index(0)));
      }
      places.push_back(view.place(b, corner, 1, at, b.index(0)));
    }
    for (int64_t v = 0; v < vectors; ++v)
      for (int64_t i = 0; i < count; ++i) {
        Value y = load(places[i], v, rows.front() == 0);
        for (auto [r, row] : llvm::enumerate(rows)) {
          Value x = readVector(operands.other, 1, b.index(row), b.index(v * lanes));
          sums[r * count + i] = b.mulAdd(x, y, sums[r * count + i]);
        }
      }
    for (size_t r = 0; r < rows.size(); ++r)
      units.push_back(b.sumToUnits(SmallVector<Value>(ArrayRef(sums).slice(r * count, count))));
    return units;
  };
  // As many rows at once as registers hold the sums of. The first walk fetches what the others
  // read.
  const size_t most = lanes >= 16 ? 2 : 1;
  auto walk = [&](ArrayRef<int64_t> rows, bool whole) {
    b.loop(b.index(0), b.index(layout.pitch), lanes, [&](Value inner) {
      SmallVector<SmallVector<Value>> units(rows.size());
      for (int64_t first = 0; first < 4; ++first)
        for (auto [r, unit] : llvm::enumerate(sumSome(rows, whole, inner, first)))
          units[r].push_back(unit);
      for (auto [row, four] : llvm::zip(rows, units)) {
        Value all = b.sumUnits(four);
        if (dot.getAcc())
          all = arith::AddFOp::create(b, all, readVector(dot.getAcc(), 1, b.index(row), inner));
        write(result, b.index(row), inner, all);
      }
    });
  };
  SmallVector<int64_t> all = llvm::to_vector(llvm::seq(rows));
  forWholeOrPart(valid, layout, [&](bool whole) {
    for (ArrayRef<int64_t> left = all; !left.empty();
         left = left.drop_front(std::min(most, left.size())))
      walk(left.take_front(most), whole);
  });
}
