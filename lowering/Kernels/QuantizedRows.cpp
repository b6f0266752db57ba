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
static Value roundTo(KernelBuilder &k, Value number, Type type) {
  Value shift =
      k.real(k.getF32Type(), 0x1.8p23 + (type.isInteger(8) ? tile::DotOp::kZeroPoint : 0));
  Value shifted = k.add(number, shift);
  if (!type.isInteger(8))
    return k.convert(k.sub(shifted, shift), type);
  Value bits = arith::BitcastOp::create(k, k.getI32Type(), shifted);
  return arith::TruncIOp::create(k, type, bits);
}

SmallVector<Value> mlir::fovea::quantizeRows(TileBuilder &b, Operation *norm, Value rows,
                                             Type operand) {
  KernelBuilder &k = b.k;
  Type type = k.getF32Type();
  auto whole = cast<tile::TileType>(rows.getType());
  tile::TileType one = b.tileType(b.tileRows, 1, type);
  Value infinity = k.real(type, std::numeric_limits<double>::infinity());
  // What is no number is as an infinite one.
  Value magnitudes = b.map(whole, rows, [&](ValueRange e) {
    Value isNumber = arith::CmpFOp::create(k, arith::CmpFPredicate::ORD, e[0], e[0]);
    return k.select(isNumber, math::AbsFOp::create(k, e[0]), infinity);
  });
  Value most = b.reduce(tile::ReduceKind::Maximum, magnitudes);
  SmallVector<Value> factors{most};
  if (norm)
    factors.push_back(emitRowFactor(b, norm, rows));
  Value scale = b.map(one, factors, [&](ValueRange e) {
    Value isFinite = arith::CmpFOp::create(k, arith::CmpFPredicate::OLT, e[0], infinity);
    Value scale = k.div(e[0], k.real(type, 127));
    if (norm)
      scale = k.mul(scale, e[1]);
    return k.select(isFinite, scale, k.real(type, std::numeric_limits<double>::quiet_NaN()));
  });
  Value inverse = b.map(one, most, [&](ValueRange e) {
    Value least = k.real(type, LinearOp::kLeastMagnitude);
    Value isLess = arith::CmpFOp::create(k, arith::CmpFPredicate::OLT, e[0], least);
    return k.select(isLess, k.real(type, 0), k.div(k.real(type, 127), e[0]));
  });
  Value integers = b.map(whole.withElementType(operand),
                         {rows, b.broadcast(inverse, b.tileRows, whole.getColumns())},
                         [&](ValueRange e) { return roundTo(k, k.mul(e[0], e[1]), operand); });
  return {scale, integers};
}
