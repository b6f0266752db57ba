// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Rows of f32 as integers of eight bits with a scale each (`quantize_rows`): dynamic quantisation
// by token.
#include "lowering/Kernels/TileBuilder.h"
#include "mlir/Dialect/Math/IR/Math.h"
#include <limits>

using namespace mlir;
using namespace mlir::fovea;

/// The nearest integer, halves to even, of an f32 of magnitude below 2^22: behind this number an
/// f32 has no fraction. Of a byte, which holds it and the zero point, it is the lowest bits.
static Value roundTo(KernelBuilder &k, Value number, Type type, int64_t zeroPoint) {
  bool isByte = type.isInteger(8);
  Value shift = k.real(k.getF32Type(), 0x1.8p23 + (isByte ? static_cast<double>(zeroPoint) : 0));
  Value shifted = k.add(number, shift);
  if (!isByte)
    return k.convert(k.sub(shifted, shift), type);
  Value bits = arith::BitcastOp::create(k, k.getI32Type(), shifted);
  return arith::TruncIOp::create(k, type, bits);
}

/// A tile of some columns of rows as integers, by the rows' inverse scales.
static Value toIntegers(TileBuilder &b, Value part, Value inverse, Type operand,
                        int64_t zeroPoint) {
  auto whole = cast<tile::TileType>(part.getType());
  Value inverses = b.broadcast(inverse, b.tileRows, whole.getColumns());
  return b.map(whole.withElementType(operand), {part, inverses},
               [&](ValueRange e) { return roundTo(b.k, b.k.mul(e[0], e[1]), operand, zeroPoint); });
}

QuantizedTiles mlir::fovea::quantizeTiles(TileBuilder &b, ValueRange parts, Value factor,
                                          Type operand, int64_t zeroPoint) {
  KernelBuilder &k = b.k;
  Type type = k.getF32Type();
  tile::TileType one = b.tileType(b.tileRows, 1, type);
  auto typeOf = [](Value part) { return cast<tile::TileType>(part.getType()); };
  Value infinity = k.real(type, std::numeric_limits<double>::infinity()), most;
  for (Value part : parts) {
    // What is no number is as an infinite one.
    Value magnitudes = b.map(typeOf(part), part, [&](ValueRange e) {
      Value isNumber = arith::CmpFOp::create(k, arith::CmpFPredicate::ORD, e[0], e[0]);
      return k.select(isNumber, math::AbsFOp::create(k, e[0]), infinity);
    });
    Value own = b.reduce(tile::ReduceKind::Maximum, magnitudes);
    most =
        most ? b.map(one, {most, own}, [&](ValueRange e) { return k.maximum(e[0], e[1]); }) : own;
  }
  SmallVector<Value> factors{most};
  if (factor)
    factors.push_back(factor);
  QuantizedTiles result;
  result.scale = b.map(one, factors, [&](ValueRange e) {
    Value isFinite = arith::CmpFOp::create(k, arith::CmpFPredicate::OLT, e[0], infinity);
    Value scale = k.div(e[0], k.real(type, 127));
    if (factor)
      scale = k.mul(scale, e[1]);
    return k.select(isFinite, scale, k.real(type, std::numeric_limits<double>::quiet_NaN()));
  });
  result.inverse = b.map(one, most, [&](ValueRange e) {
    Value least = k.real(type, LinearOp::kLeastMagnitude);
    Value isLess = arith::CmpFOp::create(k, arith::CmpFPredicate::OLT, e[0], least);
    return k.select(isLess, k.real(type, 0), k.div(k.real(type, 127), e[0]));
  });
  for (Value part : parts)
    result.integers.push_back(toIntegers(b, part, result.inverse, operand, zeroPoint));
  return result;
}

QuantizedTiles mlir::fovea::quantizeRows(TileBuilder &b, Operation *norm, Value rows,
                                         Type operand) {
  Value factor = norm ? emitRowFactor(b, norm, rows) : Value();
  return quantizeTiles(b, rows, factor, operand, tile::DotOp::kZeroPoint);
}

void mlir::fovea::sumGroups(TileBuilder &b, Value memory, Value inverse, int64_t group,
                            unsigned temporary) {
  KernelBuilder &k = b.k;
  Value sums = k.temporary(temporary);
  int64_t groups = cast<MemRefType>(sums.getType()).getShape().back();
  k.loop(k.index(0), k.index(groups), [&](Value number) {
    Value part = b.loadRows(b.rowsOf(memory), k.mul(number, k.index(group)), group);
    Value integers = toIntegers(b, part, inverse, k.getF32Type(), /*zeroPoint=*/0);
    b.storeRows(b.reduce(tile::ReduceKind::Sum, integers), sums, number);
  });
}
