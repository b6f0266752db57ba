// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// `math` on scalars and tensors: the C library's functions in double precision.
#include "mlir/Dialect/Math/IR/Math.h"
#include "interpreter/Elementwise.h"
#include <cmath>

using namespace mlir;
using namespace mlir::fovea;
using namespace mlir::fovea::interpreter;

static FailureOr<Element> absoluteInteger(Operation *, ArrayRef<Element> x) {
  int64_t a = x[0].integer;
  return Element{0, a < 0 ? static_cast<int64_t>(0 - static_cast<uint64_t>(a)) : a};
}

static FailureOr<Element> fusedMultiplyAdd(Operation *, ArrayRef<Element> x) {
  return Element{std::fma(x[0].real, x[1].real, x[2].real), 0};
}

static FailureOr<Element> powerOfInteger(Operation *, ArrayRef<Element> x) {
  return Element{std::pow(x[0].real, static_cast<double>(x[1].integer)), 0};
}

/// `base^exponent` of signed integers, wrapping; of a negative exponent what is left of 1 / base.
static FailureOr<Element> integerPower(Operation *op, ArrayRef<Element> x) {
  int64_t base = x[0].integer, exponent = x[1].integer;
  if (exponent < 0) {
    if (base == 0)
      return op->emitOpError("expects a base that is not zero, got 0 ^ ") << exponent;
    int64_t odd = exponent & 1;
    return Element{0, base == 1 ? 1 : base == -1 ? (odd ? -1 : 1) : 0};
  }
  uint64_t result = 1, square = base;
  for (uint64_t rest = exponent; rest != 0; rest >>= 1, square *= square)
    if (rest & 1)
      result *= square;
  return Element{0, static_cast<int64_t>(result)};
}

static FailureOr<Element> clamp(Operation *, ArrayRef<Element> x) {
  double value = x[0].real, low = x[1].real, high = x[2].real;
  return Element{std::isnan(value) ? value : std::fmin(std::fmax(value, low), high), 0};
}

static Handler realTest(bool (*test)(double)) {
  return elementwise([test](Operation *, ArrayRef<Element> x) -> FailureOr<Element> {
    return Element{0, test(x[0].real)};
  });
}

void interpreter::addMathOps(HandlerTable &table) {
  table.addAll<math::AbsFOp>(realUnary(std::fabs));
  table.addAll<math::AcosOp>(realUnary(std::acos));
  table.addAll<math::AcoshOp>(realUnary(std::acosh));
  table.addAll<math::AsinOp>(realUnary(std::asin));
  table.addAll<math::AsinhOp>(realUnary(std::asinh));
  table.addAll<math::AtanOp>(realUnary(std::atan));
  table.addAll<math::AtanhOp>(realUnary(std::atanh));
  table.addAll<math::CbrtOp>(realUnary(std::cbrt));
  table.addAll<math::CeilOp>(realUnary(std::ceil));
  table.addAll<math::CosOp>(realUnary(std::cos));
  table.addAll<math::CoshOp>(realUnary(std::cosh));
  table.addAll<math::ErfOp>(realUnary(std::erf));
  table.addAll<math::ErfcOp>(realUnary(std::erfc));
  table.addAll<math::ExpOp>(realUnary(std::exp));
  table.addAll<math::Exp2Op>(realUnary(std::exp2));
  table.addAll<math::ExpM1Op>(realUnary(std::expm1));
  table.addAll<math::FloorOp>(realUnary(std::floor));
  table.addAll<math::LogOp>(realUnary(std::log));
  table.addAll<math::Log1pOp>(realUnary(std::log1p));
  table.addAll<math::Log2Op>(realUnary(std::log2));
  table.addAll<math::Log10Op>(realUnary(std::log10));
  table.addAll<math::RoundOp>(realUnary(std::round));
  table.addAll<math::RoundEvenOp>(realUnary(std::nearbyint));
  table.addAll<math::RsqrtOp>(realUnary([](double x) { return 1 / std::sqrt(x); }));
  table.addAll<math::SinOp>(realUnary(std::sin));
  table.addAll<math::SinhOp>(realUnary(std::sinh));
  table.addAll<math::SqrtOp>(realUnary(std::sqrt));
  table.addAll<math::TanOp>(realUnary(std::tan));
  table.addAll<math::TanhOp>(realUnary(std::tanh));
  table.addAll<math::TruncOp>(realUnary(std::trunc));
  table.addAll<math::Atan2Op>(realBinary(std::atan2));
  table.addAll<math::CopySignOp>(realBinary(std::copysign));
  table.addAll<math::PowFOp>(realBinary(std::pow));
  table.addAll<math::FPowIOp>(elementwise(powerOfInteger));
  table.addAll<math::FmaOp>(elementwise(fusedMultiplyAdd));
  table.addAll<math::AbsIOp>(elementwise(absoluteInteger));
  table.addAll<math::IPowIOp>(elementwise(integerPower));
  table.addAll<math::ClampFOp>(elementwise(clamp));
  table.addAll<math::IsNormalOp>(realTest([](double x) { return std::isnormal(x); }));
  table.addAll<math::IsNaNOp>(realTest([](double x) { return std::isnan(x); }));
  table.addAll<math::IsInfOp>(realTest([](double x) { return std::isinf(x); }));
  table.addAll<math::IsFiniteOp>(realTest([](double x) { return std::isfinite(x); }));
}
