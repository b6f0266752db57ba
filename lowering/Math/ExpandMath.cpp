// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// The pass that turns functions of f32 vectors, for a GPU of f32 scalars, into straight-line
// arithmetic; its text states the error of each. What has no expansion keeps its op, which becomes
// a call on a processor and is an error on a GPU, where there is nothing to call.
#include "dialects/ElementTypes.h"
#include "lowering/Math/MathCoefficients.h"
#include "lowering/Math/MathEmitter.h"
#include "lowering/Math/Passes.h"
#include "lowering/Math/WideMath.h"
#include "lowering/Targets/Table.h"
#include "lowering/Tile/Emitter.h"
#include "mlir/Dialect/LLVMIR/LLVMDialect.h"
#include "mlir/Dialect/Math/IR/Math.h"
#include "mlir/Dialect/SCF/IR/SCF.h"
#include "llvm/ADT/TypeSwitch.h"
#include <cmath>
#include <limits>

namespace mlir::fovea {
#define GEN_PASS_DEF_EXPANDMATHPASS
#include "lowering/Math/Passes.h.inc"
} // namespace mlir::fovea

using namespace mlir;
using namespace mlir::fovea;

/// ln(2) in two parts; the first has nine bits, so that its product with an exponent is exact.
static constexpr double kLn2High = 0.693359375, kLn2Low = -2.12194440054690583e-4;
static constexpr double kInfinity = std::numeric_limits<double>::infinity();
/// Added to a small number, it leaves the nearest integer in the low bits of the sum.
static constexpr double kRound = 0x1.8p23, kRoundDouble = 0x1.8p52;

namespace {
/// What more than plain arithmetic the target has.
enum class Instructions { None, AVX512, GPU };

/// Writes arithmetic on scalars, or on vectors of one shape.
class Expander : MathEmitter {
public:
  Expander(ImplicitLocOpBuilder &b, Type type, Instructions instructions)
      : MathEmitter(b, type, b.getI32Type()), instructions(instructions) {}

  Value exp(Value x);
  Value exp2(Value x);
  Value expm1(Value x);
  Value log(Value x);
  Value log1p(Value x);
  Value tanh(Value x);
  Value erf(Value x);
  Value rsqrt(Value x);
  /// sin(x + quarter * pi / 2).
  Value sine(Value x, int64_t quarter);

private:
  using MathEmitter::real;
  Value real(double value) { return real(type, value); }
  Value mul(Value x, Value y) { return arith::MulFOp::create(b, x, y); }
  /// x * y + z, rounded once where the target can: `vector.fma` would call a function elsewhere.
  Value fma(Value x, Value y, Value z) {
    constexpr auto contract = arith::FastMathFlags::contract;
    return arith::AddFOp::create(b, arith::MulFOp::create(b, x, y, contract), z, contract);
  }
  /// x within [low, high]; NaN stays. Each side is one instruction.
  Value clamp(Value x, double low, double high) {
    Value l = real(low), h = real(high);
    x = select(compare(arith::CmpFPredicate::OGT, l, x), l, x);
    return select(compare(arith::CmpFPredicate::OLT, h, x), h, x);
  }
  /// The polynomial with these coefficients, lowest power first.
  Value horner(ArrayRef<float> coefficients, Value x) {
    Value sum = real(coefficients.back());
    for (float coefficient : llvm::reverse(coefficients.drop_back()))
      sum = fma(sum, x, real(coefficient));
    return sum;
  }

  /// x = n ln(2) + rest with n = rounded - kRound, for x within [-104, 89].
  void splitExponent(Value x, Value &rounded, Value &n, Value &rest);
  /// The integer bits of p * 2^n, if these are no less than zero.
  Value addExponent(Value p, Value rounded) {
    return arith::AddIOp::create(b, bits(p), arith::ShLIOp::create(b, bits(rounded), integer(23)));
  }
  /// The number with these bits, and NaN where x is.
  Value orNaN(Value result, Value x) {
    Value nan = arith::ExtSIOp::create(b, ints, compare(arith::CmpFPredicate::UNO, x, x));
    return fromBits(arith::OrIOp::create(b, result, nan));
  }

  bool hasScale() const {
    auto vector = dyn_cast<VectorType>(type);
    return instructions == Instructions::AVX512 && vector &&
           llvm::is_contained({4, 8, 16}, vector.getNumElements());
  }
  bool isGPU() const { return instructions == Instructions::GPU; }
  Value callMasked(StringRef name, Value x, Value argument);
  /// x - floor(x).
  Value fraction(Value x);
  /// p * 2^floor(n).
  Value scale(Value p, Value n) { return callMasked("scalef", p, n); }

  Instructions instructions;
};
} // namespace

//===-- Instructions of AVX-512 --------------------------------------------------------------===//

Value Expander::callMasked(StringRef name, Value x, Value argument) {
  int64_t lanes = cast<VectorType>(type).getNumElements();
  Type maskType = b.getIntegerType(std::max<int64_t>(lanes, 8));
  SmallVector<Value> arguments = {x, argument, real(0),
                                  arith::ConstantOp::create(b, b.getIntegerAttr(maskType, -1))};
  if (lanes == 16) // current rounding
    arguments.push_back(arith::ConstantOp::create(b, b.getI32IntegerAttr(4)));
  std::string intrinsic =
      ("llvm.x86.avx512.mask." + name + ".ps." + std::to_string(lanes * 32)).str();
  return LLVM::CallIntrinsicOp::create(b, type, b.getStringAttr(intrinsic), arguments).getResult(0);
}

Value Expander::fraction(Value x) {
  // No bits after the point, rounded down, no exceptions.
  return callMasked("reduce", x, arith::ConstantOp::create(b, b.getI32IntegerAttr(9)));
}

//===-- Exponentials -------------------------------------------------------------------------===//

void Expander::splitExponent(Value x, Value &rounded, Value &n, Value &rest) {
  rounded = fma(x, real(std::log2(std::exp(1.0))), real(kRound));
  n = sub(rounded, real(kRound));
  rest = fma(n, real(-kLn2Low), fma(n, real(-kLn2High), x));
}

Value Expander::exp2(Value x) {
  if (isGPU())
    return LLVM::CallIntrinsicOp::create(b, type, b.getStringAttr("llvm.nvvm.ex2.approx.ftz.f"), x)
        .getResult(0);
  if (hasScale())
    return scale(horner(kExp2Floor, fraction(x)), x);
  // At both ends the fraction is zero and the polynomial one: the sum of exponents is then exactly
  // that of zero and of infinity.
  Value bounded = clamp(x, -127, 128);
  Value rounded = add(bounded, real(kRound));
  Value p = horner(kExp2Centre, sub(bounded, sub(rounded, real(kRound))));
  return orNaN(addExponent(p, rounded), x);
}

Value Expander::exp(Value x) {
  if (isGPU()) {
    // 2^t with t = x log2(e), and to first order what t has lost by rounding. Beyond the ends,
    // where t itself may be infinite, there is nothing to correct.
    constexpr float kLog2 = 1.44269502f;
    Value bounded = clamp(x, -150, 150);
    Value t = mul(bounded, real(kLog2));
    Value lost = arith::NegFOp::create(b, t);
    lost = math::FmaOp::create(b, bounded, real(kLog2), lost);
    lost = fma(bounded, real(std::log2(std::exp(1.0)) - kLog2), lost);
    Value power = exp2(t);
    Value sum = fma(power, mul(lost, real(std::log(2.0))), power);
    return select(compare(arith::CmpFPredicate::OLT, power, real(kInfinity)), sum, power);
  }
  Value bounded = clamp(x, -104, 89), rounded, n, rest;
  splitExponent(bounded, rounded, n, rest);
  Value p = horner(kExp, rest);
  if (hasScale())
    return scale(p, n);
  Value sum = addExponent(p, rounded);
  sum = arith::MinSIOp::create(b, sum, integer(0x7f800000));
  return orNaN(arith::MaxSIOp::create(b, sum, integer(0)), x);
}

/// e^x - 1 = 2 (2^(n-1) (e^r - 1) + 2^(n-1) - 1/2); the half power keeps n = 128 in range.
Value Expander::expm1(Value x) {
  Value rounded, n, rest;
  splitExponent(clamp(x, -80, 89), rounded, n, rest);
  Value p = fma(mul(rest, rest), horner(ArrayRef(kExp).drop_front(2), rest), rest);
  Value biased = arith::AddIOp::create(b, bits(rounded), integer(126));
  Value power = fromBits(arith::ShLIOp::create(b, biased, integer(23)));
  Value half = fma(p, power, sub(power, real(0.5)));
  return add(half, half);
}

/// x P(x^2) / Q(x^2), constant from where the function is.
Value Expander::tanh(Value x) {
  x = clamp(x, -kTanhEnd, kTanhEnd);
  Value square = mul(x, x);
  return arith::DivFOp::create(b, mul(x, horner(kTanhTop, square)), horner(kTanhBottom, square));
}

/// x P(u), u = 2 x^2 / end^2 - 1: centred, else the terms would be large and cancel.
Value Expander::erf(Value x) {
  x = clamp(x, -kErfEnd, kErfEnd);
  Value u = fma(mul(x, x), real(2.0 / (double(kErfEnd) * kErfEnd)), real(-1));
  return mul(x, horner(kErf, u));
}

//===-- Logarithms ---------------------------------------------------------------------------===//

Value Expander::log(Value x) {
  // Numbers below the smallest normal one have no exponent of their own.
  Value tiny = compare(arith::CmpFPredicate::OLT, x, real(0x1p-126));
  Value normal = select(tiny, mul(x, real(0x1p23)), x);
  // m = normal / 2^e within [sqrt(1/2), sqrt(2)).
  Value e = arith::ShRSIOp::create(b, arith::SubIOp::create(b, bits(normal), integer(0x3f3504f3)),
                                   integer(23));
  Value m =
      fromBits(arith::SubIOp::create(b, bits(normal), arith::ShLIOp::create(b, e, integer(23))));
  Value exponent = add(arith::SIToFPOp::create(b, type, e), select(tiny, real(-23), real(0)));
  Value f = sub(m, real(1));
  Value rest = mul(mul(f, f), fma(f, horner(kLog, f), real(-0.5)));
  Value sum = fma(exponent, real(kLn2High), add(f, fma(exponent, real(kLn2Low), rest)));
  // Infinity and NaN are their own logarithms.
  sum = select(compare(arith::CmpFPredicate::OLT, x, real(kInfinity)), sum, x);
  Value outside = select(compare(arith::CmpFPredicate::OEQ, x, real(0)), real(-kInfinity),
                         real(std::numeric_limits<double>::quiet_NaN()));
  return select(compare(arith::CmpFPredicate::UGT, x, real(0)), sum, outside);
}

/// log(u) + (x - (u - 1)) / u with u = 1 + x: what the sum lost, to first order.
Value Expander::log1p(Value x) {
  Value u = add(x, real(1)), lost = sub(x, sub(u, real(1)));
  Value value = log(u);
  Value finite =
      compare(arith::CmpFPredicate::OLT, math::AbsFOp::create(b, value), real(kInfinity));
  return select(finite, add(value, arith::DivFOp::create(b, lost, u)), value);
}

//===-- Angles -------------------------------------------------------------------------------===//

Value Expander::sine(Value x, int64_t quarter) {
  // The nearest multiple of pi/2 is taken off in f64: one product, whose error is below 2^-53 |x|.
  Type wide = withElement(b.getF64Type());
  Value exact = arith::ExtFOp::create(b, wide, x);
  Value rounded = fma(exact, real(wide, 2 / M_PI), real(wide, kRoundDouble));
  Value turns = sub(rounded, real(wide, kRoundDouble));
  Value r = arith::TruncFOp::create(b, type, fma(turns, real(wide, -M_PI_2), exact));
  r = clamp(r, -0.7855, 0.7855); // beyond 2^51 multiples r is anything
  Value q = arith::TruncIOp::create(
      b, ints, arith::BitcastOp::create(b, withElement(b.getI64Type()), rounded));
  if (quarter)
    q = arith::AddIOp::create(b, q, integer(quarter));

  Value square = mul(r, r);
  Value sine = fma(mul(r, square), horner(kSin, square), r);
  Value cosine = fma(mul(square, square), horner(kCos, square), fma(square, real(-0.5), real(1)));
  Value odd = arith::CmpIOp::create(b, arith::CmpIPredicate::ne,
                                    arith::AndIOp::create(b, q, integer(1)), integer(0));
  Value sign = arith::ShLIOp::create(b, arith::AndIOp::create(b, q, integer(2)), integer(30));
  return fromBits(arith::XOrIOp::create(b, bits(select(odd, cosine, sine)), sign));
}

Value Expander::rsqrt(Value x) {
  return arith::DivFOp::create(b, real(1), math::SqrtOp::create(b, x));
}

//===-- The pass -----------------------------------------------------------------------------===//

/// A function of one f32 or vector of them; null for ops that have no expansion.
static Value expand(Operation *op, Expander &expander) {
  return TypeSwitch<Operation *, Value>(op)
      .Case([&](math::ExpOp op) { return expander.exp(op.getOperand()); })
      .Case([&](math::Exp2Op op) { return expander.exp2(op.getOperand()); })
      .Case([&](math::ExpM1Op op) { return expander.expm1(op.getOperand()); })
      .Case([&](math::LogOp op) { return expander.log(op.getOperand()); })
      .Case([&](math::Log1pOp op) { return expander.log1p(op.getOperand()); })
      .Case([&](math::TanhOp op) { return expander.tanh(op.getOperand()); })
      .Case([&](math::ErfOp op) { return expander.erf(op.getOperand()); })
      .Case([&](math::SinOp op) { return expander.sine(op.getOperand(), 0); })
      .Case([&](math::CosOp op) { return expander.sine(op.getOperand(), 1); })
      .Case([&](math::RsqrtOp op) { return expander.rsqrt(op.getOperand()); })
      .Default(Value());
}

/// Ops of any type that the conversions after this pass have no pattern for, in terms of others.
static void replaceUnknown(Operation *op) {
  ImplicitLocOpBuilder b(op->getLoc(), op);
  auto constant = [&](Type type, const APFloat &value) -> Value {
    TypedAttr scalar = b.getFloatAttr(getElementTypeOrSelf(type), value);
    if (auto shaped = dyn_cast<ShapedType>(type))
      scalar = DenseElementsAttr::get(shaped, Attribute(scalar));
    return arith::ConstantOp::create(b, scalar);
  };
  auto semantics = [](Type type) -> const llvm::fltSemantics & {
    return cast<FloatType>(getElementTypeOrSelf(type)).getFloatSemantics();
  };
  if (auto both = dyn_cast<math::SincosOp>(op)) {
    Value sin = math::SinOp::create(b, both.getOperand(), both.getFastmath());
    Value cos = math::CosOp::create(b, both.getOperand(), both.getFastmath());
    both.replaceAllUsesWith(ValueRange{sin, cos});
  } else if (auto clamp = dyn_cast<math::ClampFOp>(op)) {
    Value above = arith::MaximumFOp::create(b, clamp.getValue(), clamp.getMin());
    clamp.getResult().replaceAllUsesWith(arith::MinimumFOp::create(b, above, clamp.getMax()));
  } else if (isa<math::IsInfOp, math::IsNormalOp>(op)) {
    Value size = math::AbsFOp::create(b, op->getOperand(0));
    Type type = size.getType();
    Value infinity = constant(type, APFloat::getInf(semantics(type)));
    Value result;
    if (isa<math::IsInfOp>(op)) {
      result = arith::CmpFOp::create(b, arith::CmpFPredicate::OEQ, size, infinity);
    } else {
      Value least = constant(type, APFloat::getSmallestNormalized(semantics(type)));
      result = arith::AndIOp::create(
          b, arith::CmpFOp::create(b, arith::CmpFPredicate::OGE, size, least),
          arith::CmpFOp::create(b, arith::CmpFPredicate::OLT, size, infinity));
    }
    op->getResult(0).replaceAllUsesWith(result);
  } else {
    return;
  }
  op->erase();
}

//===-- GPUs ---------------------------------------------------------------------------------===//

/// x^n for an integer n, by squares; of integers as upstream defines it, with zero in place of what
/// it leaves undefined.
static Value raise(ImplicitLocOpBuilder &b, Value x, Value n) {
  Type type = x.getType(), count = n.getType();
  bool isReal = isa<FloatType>(type);
  Value one = arith::ConstantOp::create(b, b.getOneAttr(type));
  Value zero = arith::ConstantOp::create(b, b.getZeroAttr(count));
  Value unit = arith::ConstantOp::create(b, b.getOneAttr(count));
  auto multiply = [&](Value l, Value r) -> Value {
    return isReal ? arith::MulFOp::create(b, l, r).getResult()
                  : arith::MulIOp::create(b, l, r).getResult();
  };
  Value negative = arith::CmpIOp::create(b, arith::CmpIPredicate::slt, n, zero);
  Value size = arith::SelectOp::create(b, negative, arith::SubIOp::create(b, zero, n), n);
  auto loop = scf::WhileOp::create(
      b, TypeRange{count, type, type}, ValueRange{size, x, one},
      [&](OpBuilder &, Location, ValueRange state) {
        Value more = arith::CmpIOp::create(b, arith::CmpIPredicate::ne, state[0], zero);
        scf::ConditionOp::create(b, more, state);
      },
      [&](OpBuilder &, Location, ValueRange state) {
        Value odd = arith::TruncIOp::create(b, b.getI1Type(), state[0]);
        Value product = arith::SelectOp::create(b, odd, multiply(state[2], state[1]), state[2]);
        Value rest = arith::ShRUIOp::create(b, state[0], unit);
        scf::YieldOp::create(b, ValueRange{rest, multiply(state[1], state[1]), product});
      });
  Value power = loop.getResult(2);
  if (isReal)
    return arith::SelectOp::create(b, negative, arith::DivFOp::create(b, one, power), power);
  // 1 / x^|n| is not zero only for 1 and -1, which are their own inverses.
  Value none = arith::ConstantOp::create(b, b.getZeroAttr(type));
  Value unitary = arith::CmpIOp::create(b, arith::CmpIPredicate::eq,
                                        arith::MulIOp::create(b, power, power), one);
  return arith::SelectOp::create(b, negative, arith::SelectOp::create(b, unitary, power, none),
                                 power);
}

/// Whether PTX has the op for scalars of this type, or a few instructions that LLVM knows.
static bool isInstruction(Operation *op) {
  return isa<math::AbsFOp, math::AbsIOp, math::CeilOp, math::CopySignOp, math::CountLeadingZerosOp,
             math::CountTrailingZerosOp, math::CtPopOp, math::FloorOp, math::FmaOp,
             math::IsFiniteOp, math::IsNaNOp, math::RoundEvenOp, math::RoundOp, math::SqrtOp,
             math::TruncOp>(op);
}

/// A scalar op of a GPU. Null, after an error, for one without an expansion.
static Value expandForGPU(Operation *op) {
  ImplicitLocOpBuilder b(op->getLoc(), op);
  Type type = op->getResult(0).getType();
  if (isa<math::IPowIOp, math::FPowIOp>(op))
    return raise(b, op->getOperand(0), op->getOperand(1));
  if (type.isF32() && op->getNumOperands() == 1) {
    Expander expander(b, type, Instructions::GPU);
    if (Value value = expand(op, expander))
      return value;
  }
  if (type.isF32() || type.isF64()) {
    SmallVector<Value> operands;
    for (Value operand : op->getOperands())
      operands.push_back(type.isF64() ? operand
                                      : arith::ExtFOp::create(b, b.getF64Type(), operand));
    if (Value value = expandWide(b, op, operands))
      return type.isF64() ? value : arith::TruncFOp::create(b, type, value).getResult();
  }
  op->emitOpError("of ") << type << " has no form for GPUs";
  return {};
}

/// Narrow floats are computed as f32.
static void widen(Operation *op) {
  if (op->getNumResults() != 1 || !llvm::any_of(op->getOperandTypes(), isHalf) ||
      isa<math::AbsFOp, math::CopySignOp, math::IsFiniteOp, math::IsNaNOp>(op))
    return;
  ImplicitLocOpBuilder b(op->getLoc(), op);
  for (OpOperand &operand : op->getOpOperands())
    if (isHalf(operand.get().getType()))
      operand.set(arith::ExtFOp::create(b, b.getF32Type(), operand.get()));
  Value result = op->getResult(0);
  Type narrow = result.getType();
  if (!isHalf(narrow))
    return;
  result.setType(b.getF32Type());
  b.setInsertionPointAfter(op);
  auto rounded = arith::TruncFOp::create(b, narrow, result);
  result.replaceAllUsesExcept(rounded, rounded);
}

namespace {
struct ExpandMathPass : mlir::fovea::impl::ExpandMathPassBase<ExpandMathPass> {
  using ExpandMathPassBase::ExpandMathPassBase;

  void runOnOperation() override {
    std::string level = getVectorLevel(getOperation(), target);
    bool gpu = StringRef(level).starts_with("sm_");
    const Level *processor = findProcessorLevel(level.empty() ? "sse" : level);
    if (!gpu && !processor) {
      getOperation().emitError("expects a target of ")
          << listProcessorLevels() << ", or a GPU's, got '" << level << "'";
      return signalPassFailure();
    }
    getOperation().walk([](Operation *op) { replaceUnknown(op); });
    WalkResult result = getOperation().walk(
        [&](Operation *op) { return gpu ? visitForGPU(op) : visit(op, *processor); });
    if (result.wasInterrupted())
      signalPassFailure();
  }

  void replace(Operation *op, Value value) {
    op->getResult(0).replaceAllUsesWith(value);
    op->erase();
    ++expanded;
  }

  WalkResult visitForGPU(Operation *op) {
    if (!isa<math::MathDialect>(op->getDialect()))
      return WalkResult::advance();
    widen(op);
    if (isInstruction(op))
      return WalkResult::advance();
    Value value = expandForGPU(op);
    if (!value)
      return WalkResult::interrupt();
    replace(op, value);
    return WalkResult::advance();
  }

  WalkResult visit(Operation *op, const Level &processor) {
    if (op->getNumOperands() != 1 || op->getNumResults() != 1)
      return WalkResult::advance();
    auto type = dyn_cast<VectorType>(op->getResult(0).getType());
    if (!type || type.getRank() != 1 || type.isScalable() || type.getNumElements() % 4 != 0)
      return WalkResult::advance();
    ImplicitLocOpBuilder b(op->getLoc(), op);
    // Its products and sums are fused ones, which all have but those of SSE alone.
    bool fuses = processor.lanes >= 8 || processor.family != &kX86;
    if (isa<math::TanhOp>(op) && type.getElementType().isF64() && fuses)
      replace(op, expandWide(b, op, op->getOperands()));
    if (!type.getElementType().isF32())
      return WalkResult::advance();
    Expander expander(b, type, processor.lanes == 16 ? Instructions::AVX512 : Instructions::None);
    if (Value value = expand(op, expander))
      replace(op, value);
    return WalkResult::advance();
  }
};
} // namespace
