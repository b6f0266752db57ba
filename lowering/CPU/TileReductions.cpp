// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Reductions of tiles along one axis, and casts.
#include "lowering/CPU/TileLowering.h"
#include <limits>

using namespace mlir;
using namespace mlir::fovea;
using namespace mlir::fovea::tile;

void TileLowering::lowerReduce(ReduceOp reduce) {
  Value input = reduce.getInput();
  TileLayout layout = layoutOf(input);
  Type element = typeOf(input).getElementType();
  auto vectorType = VectorType::get(lanes, element);
  bool sum = reduce.getKind() == ReduceKind::Sum;
  auto fast = arith::FastMathFlags::reassoc | arith::FastMathFlags::contract;
  TypedAttr identity = sum ? b.getFloatAttr(element, 0.0)
                           : b.getFloatAttr(element, -std::numeric_limits<double>::infinity());
  Value start =
      arith::ConstantOp::create(b, DenseElementsAttr::get(vectorType, Attribute(identity)));
  auto join = [&](Value l, Value r) -> Value {
    return sum ? Value(arith::AddFOp::create(b, l, r, fast)) : b.maximumNumber(r, l);
  };
  Scratch result = resultScratch(reduce, std::nullopt);
  Value outerEnd = endAlong(input, 1 - layout.axis);
  int64_t vectors = layout.pitch / lanes;

  if (static_cast<int64_t>(reduce.getAxis()) != layout.axis) {
    // Down the rows: lanes stay apart. The result lies like a row of the input, or is one element.
    constexpr int64_t kAtOnce = 8;
    for (int64_t v = 0; v < vectors; v += kAtOnce) {
      int64_t count = std::min(kAtOnce, vectors - v);
      SmallVector<Value> carried(count, start);
      carried = b.loop(b.index(0), outerEnd, 1, carried, [&](Value outer, ValueRange before) {
        SmallVector<Value> next;
        for (int64_t i = 0; i < count; ++i)
          next.push_back(
              join(before[i], readVector(input, layout.axis, outer, b.index((v + i) * lanes))));
        return next;
      });
      for (int64_t i = 0; i < count; ++i)
        write(result, b.index(0), b.index((v + i) * lanes), carried[i]);
    }
    return;
  }
  // Along the lanes: several partial vectors, then one horizontal step a row. Where rows become
  // lanes of the result, all of them are computed with.
  if (result.layout.axis != layout.axis)
    for (int64_t at = 0; at < result.layout.pitch; at += lanes)
      if (getConstant(outerEnd).value_or(0) < at + lanes)
        write(result, b.index(0), b.index(at), start);
  int64_t chains = vectors % 4 == 0 ? 4 : vectors % 3 == 0 ? 3 : vectors % 2 == 0 ? 2 : 1;
  int64_t tail = layout.inner % lanes;
  b.loop(b.index(0), outerEnd, 1, [&](Value outer) {
    SmallVector<Value> carried(chains, start);
    auto element = [&](Value inner) { return readVector(input, layout.axis, outer, inner); };
    int64_t whole = tail == 0 ? vectors : vectors - 1;
    if (tail != 0)
      chains = 1, carried.resize(1);
    carried = b.loop(b.index(0), b.index(whole * lanes), chains * lanes, carried,
                     [&](Value inner, ValueRange before) {
                       SmallVector<Value> next;
                       for (int64_t i = 0; i < chains; ++i)
                         next.push_back(join(before[i], element(b.add(inner, i * lanes))));
                       return next;
                     });
    Value all = carried[0];
    for (int64_t i = 1; i < chains; ++i)
      all = join(all, carried[i]);
    if (tail != 0) {
      Value mask = b.lanesBelow(b.index(tail), lanes);
      Value last = arith::SelectOp::create(b, mask, element(b.index(whole * lanes)), start);
      all = join(all, last);
    }
    Value one = sum ? Value(vector::ReductionOp::create(b, vector::CombiningKind::ADD, all, fast))
                    : Value(vector::ReductionOp::create(b, vector::CombiningKind::MAXNUMF, all,
                                                        arith::FastMathFlags::nnan));
    if (result.layout.axis == layout.axis)
      write(result, outer, b.index(0), b.splat(one, lanes));
    else
      memref::StoreOp::create(b, one, result.memory, outer);
  });
}

void TileLowering::lowerCast(CastOp cast) {
  TileLayout layout = layoutOf(cast.getResult());
  Type element = typeOf(cast).getElementType();
  Scratch result = resultScratch(cast.getResult(), std::nullopt);
  Value outerEnd = endAlong(cast.getResult(), 1 - layout.axis);
  forEachVector(layout, outerEnd, [&](Value outer, Value inner) {
    Value vector = readVector(cast.getInput(), layout.axis, outer, inner);
    write(result, outer, inner, b.convert(vector, element));
  });
}
