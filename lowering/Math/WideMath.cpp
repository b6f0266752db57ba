// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Taylor series on small remainders: their coefficients are reciprocals, so there is nothing to
// fit. Slower than what is fitted, and meant for what is rare.
#include "lowering/Math/WideMath.h"
#include "lowering/Math/MathEmitter.h"
#include "mlir/Dialect/Math/IR/Math.h"
#include "llvm/ADT/TypeSwitch.h"
#include <cmath>
#include <limits>

using namespace mlir;
using namespace mlir::fovea;

static constexpr double kInfinity = std::numeric_limits<double>::infinity();
static constexpr double kNaN = std::numeric_limits<double>::quiet_NaN();
/// ln(2) and pi / 2 in two parts: the first of ln(2) has 33 bits, so its product with an exponent
/// is exact; pi / 2 is taken off by fused products.
static constexpr double kLn2High = 0x1.62e42feep-1, kLn2Low = 0x1.a39ef35793c76p-33;
static constexpr double kHalfPiHigh = 0x1.921fb54442d18p+0, kHalfPiLow = 0x1.1a62633145c07p-54;
/// Added to a small number, it leaves the nearest integer in the low bits of the sum.
static constexpr double kRound = 0x1.8p52;

namespace {
class WideEmitter : MathEmitter {
public:
  /// `type` is f64, or a vector of it.
  WideEmitter(ImplicitLocOpBuilder &b, Type type) : MathEmitter(b, type, b.getI64Type()) {}

  Value exp(Value x);
  Value exp2(Value x);
  Value log(Value x);
  Value sine(Value x, int64_t quarter); ///< sin(x + quarter * pi / 2)
  Value tanh(Value x);
  Value pow(Value x, Value y);

  Value real(double value) { return MathEmitter::real(type, value); }
  Value mul(Value x, Value y) { return arith::MulFOp::create(b, x, y); }
  Value div(Value x, Value y) { return arith::DivFOp::create(b, x, y); }

private:
  Value fma(Value x, Value y, Value z) { return math::FmaOp::create(b, x, y, z); }
  Value scaledExp(Value r, Value n);
  Value clamp(Value x, double low, double high) {
    Value l = real(low), h = real(high);
    x = select(compare(arith::CmpFPredicate::OLT, x, l), l, x);
    return select(compare(arith::CmpFPredicate::OGT, x, h), h, x);
  }
  /// 2^n for n within the exponents of normal numbers, an i64.
  Value power(Value n) {
    return fromBits(
        arith::ShLIOp::create(b, arith::AddIOp::create(b, n, integer(1023)), integer(52)));
  }
  /// c0 + x (c1 + x (c2 + ...)).
  Value horner(ArrayRef<double> coefficients, Value x) {
    Value sum = real(coefficients.back());
    for (double coefficient : llvm::reverse(coefficients.drop_back()))
      sum = fma(sum, x, real(coefficient));
    return sum;
  }
};
} // namespace

/// e^r 2^n for |r| <= ln(2) / 2: the first term left out is r^14 / 14!, 4e-18.
Value WideEmitter::scaledExp(Value r, Value n) {
  SmallVector<double> series;
  double factorial = 1;
  for (int i = 0; i <= 13; ++i) {
    series.push_back(1 / factorial);
    factorial *= i + 1;
  }
  Value sum = horner(series, r);
  // Twice half the exponent, which alone may be too large or too small.
  Value whole = arith::FPToSIOp::create(b, ints, n);
  Value half = arith::ShRSIOp::create(b, whole, integer(1));
  Value other = arith::SubIOp::create(b, whole, half);
  return mul(mul(sum, power(half)), power(other));
}

Value WideEmitter::exp(Value x) {
  Value bounded = clamp(x, -750, 710);
  Value n = sub(fma(bounded, real(1 / M_LN2), real(kRound)), real(kRound));
  Value r = fma(n, real(-kLn2Low), fma(n, real(-kLn2High), bounded));
  return select(compare(arith::CmpFPredicate::UNO, x, x), x, scaledExp(r, n));
}

Value WideEmitter::exp2(Value x) {
  Value bounded = clamp(x, -1080, 1025);
  Value n = sub(add(bounded, real(kRound)), real(kRound));
  Value r = mul(sub(bounded, n), real(M_LN2));
  return select(compare(arith::CmpFPredicate::UNO, x, x), x, scaledExp(r, n));
}

/// e ln(2) + log(m), m within [sqrt(1/2), sqrt(2)); with s = (m - 1) / (m + 1), log(m) =
/// 2 (s + s^3 / 3 + ...): the first term left out is 2 s^25 / 25, 6e-21.
Value WideEmitter::log(Value x) {
  Value tiny = compare(arith::CmpFPredicate::OLT, x, real(0x1p-1022));
  Value normal = select(tiny, mul(x, real(0x1p54)), x);
  Value e = arith::ShRSIOp::create(
      b, arith::SubIOp::create(b, bits(normal), integer(0x3fe6a09e667f3bcd)), integer(52));
  Value m =
      fromBits(arith::SubIOp::create(b, bits(normal), arith::ShLIOp::create(b, e, integer(52))));
  Value exponent = add(arith::SIToFPOp::create(b, type, e), select(tiny, real(-54), real(0)));
  Value f = sub(m, real(1));
  Value s = div(f, add(f, real(2))), square = mul(s, s);
  SmallVector<double> series;
  for (int i = 1; i <= 11; ++i)
    series.push_back(2.0 / (2 * i + 1));
  // log(m) = f - s (f - s^2 P(s^2)): f is exact.
  Value rest = mul(s, sub(mul(square, horner(series, square)), f));
  Value sum = fma(exponent, real(kLn2High), add(f, fma(exponent, real(kLn2Low), rest)));
  sum = select(compare(arith::CmpFPredicate::OLT, x, real(kInfinity)), sum, x);
  Value outside =
      select(compare(arith::CmpFPredicate::OEQ, x, real(0)), real(-kInfinity), real(kNaN));
  return select(compare(arith::CmpFPredicate::UGT, x, real(0)), sum, outside);
}

Value WideEmitter::sine(Value x, int64_t quarter) {
  Value rounded = fma(x, real(M_2_PI), real(kRound));
  Value turns = sub(rounded, real(kRound));
  Value r = fma(turns, real(-kHalfPiLow), fma(turns, real(-kHalfPiHigh), x));
  Value q = bits(rounded);
  if (quarter)
    q = arith::AddIOp::create(b, q, integer(quarter));
  Value square = mul(r, r);
  SmallVector<double> sines, cosines;
  double factorial = 1; // of 2 i + 1
  for (int i = 0; i <= 9; ++i) {
    double sign = i % 2 ? -1 : 1;
    cosines.push_back(sign / factorial);
    factorial *= 2 * i + 1;
    sines.push_back(sign / factorial);
    factorial *= 2 * i + 2;
  }
  Value sine = fma(mul(r, square), horner(ArrayRef(sines).drop_front(), square), r);
  Value cosine = horner(cosines, square);
  Value odd = arith::CmpIOp::create(b, arith::CmpIPredicate::ne,
                                    arith::AndIOp::create(b, q, integer(1)), integer(0));
  Value sign = arith::ShLIOp::create(b, arith::AndIOp::create(b, q, integer(2)), integer(62));
  return fromBits(arith::XOrIOp::create(b, bits(select(odd, cosine, sine)), sign));
}

/// 1 - 2 / (e^2x + 1), which has no digits to lose where x is not small, and x - x^3 / 3 + ...
Value WideEmitter::tanh(Value x) {
  Value large = sub(real(1), div(real(2), add(exp(add(x, x)), real(1))));
  Value square = mul(x, x);
  double series[] = {1, -1.0 / 3, 2.0 / 15, -17.0 / 315, 62.0 / 2835, -1382.0 / 155925};
  Value small = mul(x, horner(series, square));
  return select(compare(arith::CmpFPredicate::OLT, square, real(0x1p-10)), small, large);
}

/// e^(y log |x|), negative for an odd power of a negative number; what C's pow gives for 0, 1 and
/// infinities.
Value WideEmitter::pow(Value x, Value y) {
  Value size = math::AbsFOp::create(b, x), one = real(1), half = mul(y, real(0.5));
  Value result = exp(mul(y, log(size)));
  Value always = arith::OrIOp::create(b, compare(arith::CmpFPredicate::OEQ, y, real(0)),
                                      compare(arith::CmpFPredicate::OEQ, size, one));
  result = select(always, one, result);
  Value whole = compare(arith::CmpFPredicate::OEQ, math::FloorOp::create(b, y), y);
  Value even = compare(arith::CmpFPredicate::OEQ, math::FloorOp::create(b, half), half);
  Value negative = compare(arith::CmpFPredicate::OLT, x, real(0));
  Value turned = select(even, result, arith::NegFOp::create(b, result));
  turned = select(whole, turned, real(kNaN));
  // A power of minus infinity or of zero is a number whatever the exponent.
  turned = select(compare(arith::CmpFPredicate::OEQ, size, real(kInfinity)),
                  select(arith::AndIOp::create(b, whole,
                                               compare(arith::CmpFPredicate::UNE,
                                                       math::FloorOp::create(b, half), half)),
                         arith::NegFOp::create(b, result), result),
                  turned);
  turned = select(compare(arith::CmpFPredicate::OEQ, y, real(0)), one, turned);
  result = select(negative, turned, result);
  // 1^NaN and NaN^0 are one.
  Value nan = compare(arith::CmpFPredicate::UNO, x, y);
  Value known = arith::OrIOp::create(b, compare(arith::CmpFPredicate::OEQ, y, real(0)),
                                     compare(arith::CmpFPredicate::OEQ, x, one));
  return select(known, one, select(nan, real(kNaN), result));
}

Value mlir::fovea::expandWide(ImplicitLocOpBuilder &b, Operation *op, ValueRange operands) {
  WideEmitter e(b, operands.front().getType());
  Value x = operands.front();
  return llvm::TypeSwitch<Operation *, Value>(op)
      .Case([&](math::ExpOp) { return e.exp(x); })
      .Case([&](math::Exp2Op) { return e.exp2(x); })
      .Case([&](math::LogOp) { return e.log(x); })
      .Case([&](math::Log2Op) { return e.mul(e.log(x), e.real(1 / M_LN2)); })
      .Case([&](math::Log10Op) { return e.mul(e.log(x), e.real(1 / M_LN10)); })
      .Case([&](math::SinOp) { return e.sine(x, 0); })
      .Case([&](math::CosOp) { return e.sine(x, 1); })
      .Case([&](math::TanOp) { return e.div(e.sine(x, 0), e.sine(x, 1)); })
      .Case([&](math::TanhOp) { return e.tanh(x); })
      .Case([&](math::RsqrtOp) { return e.div(e.real(1), math::SqrtOp::create(b, x)); })
      .Case([&](math::PowFOp) { return e.pow(x, operands[1]); })
      .Default(Value());
}
