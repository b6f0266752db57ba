// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// `arith` on scalars and tensors. Integers wrap to their width when a value is set; division by
// zero and shifts by the width or more are errors.
#include "mlir/Dialect/Arith/IR/Arith.h"
#include "interpreter/Elementwise.h"
#include "llvm/ADT/APFloat.h"
#include <cmath>
#include <limits>

using namespace mlir;
using namespace mlir::fovea;
using namespace mlir::fovea::interpreter;

/// Bits of an integer operand, also of a tensor's elements.
static unsigned operandWidth(Operation *op, unsigned i = 0) {
  return widthOf(getElementTypeOrSelf(op->getOperand(i).getType()));
}

//===-- Constants ----------------------------------------------------------------------------===//

static LogicalResult runConstant(arith::ConstantOp op, Frame &frame) {
  Attribute value = op.getValue();
  if (auto number = dyn_cast<FloatAttr>(value))
    return frame.set(op, RuntimeValue(number.getValueAsDouble()));
  if (auto number = dyn_cast<IntegerAttr>(value))
    return frame.set(op, RuntimeValue(number.getValue().getSExtValue()));
  auto dense = dyn_cast<DenseElementsAttr>(value);
  auto type = dyn_cast<RankedTensorType>(op.getType());
  if (!dense || !type)
    return op.emitOpError("expects a number or dense elements to interpret, got ") << op.getType();
  if (!type.getElementType().isIntOrIndexOrFloat())
    return op.emitOpError("expects floats or integers to interpret, got ") << type;
  bool isReal = isa<FloatType>(type.getElementType());
  TRY(Tensor result, frame.makeTensor(op, type.getShape(), isReal));
  int64_t at = 0;
  if (isReal)
    for (const APFloat &number : dense.getValues<APFloat>())
      result.reals[at++] = number.convertToDouble();
  else
    for (const APInt &number : dense.getValues<APInt>())
      result.integers[at++] = number.getSExtValue();
  return frame.set(op, std::move(result));
}

//===-- Integers -----------------------------------------------------------------------------===//

static Handler integerBinary(int64_t (*function)(int64_t, int64_t)) {
  return elementwise([function](Operation *, ArrayRef<Element> x) -> FailureOr<Element> {
    return Element{0, function(x[0].integer, x[1].integer)};
  });
}

static Handler unsignedBinary(uint64_t (*function)(uint64_t, uint64_t)) {
  return elementwise([function](Operation *op, ArrayRef<Element> x) -> FailureOr<Element> {
    unsigned width = operandWidth(op);
    uint64_t result =
        function(unsignedBits(x[0].integer, width), unsignedBits(x[1].integer, width));
    return Element{0, static_cast<int64_t>(result)};
  });
}

/// Arithmetic in unsigned numbers wraps without being undefined.
static int64_t wrap(uint64_t value) { return static_cast<int64_t>(value); }

enum class Rounding { Zero, Down, Up };

/// Signed division, or its remainder.
static Handler signedDivision(Rounding rounding, bool remainder) {
  return elementwise([=](Operation *op, ArrayRef<Element> x) -> FailureOr<Element> {
    int64_t a = x[0].integer, b = x[1].integer;
    if (b == 0)
      return op->emitOpError("expects a divisor that is not zero, got ") << a << " / 0";
    if (b == -1)
      return Element{0, remainder ? 0 : wrap(0 - static_cast<uint64_t>(a))};
    int64_t quotient = a / b, rest = a % b;
    if (rounding == Rounding::Down && rest != 0 && (rest < 0) != (b < 0))
      --quotient;
    if (rounding == Rounding::Up && rest != 0 && (rest < 0) == (b < 0))
      ++quotient;
    return Element{0, remainder ? rest : quotient};
  });
}

static Handler unsignedDivision(Rounding rounding, bool remainder) {
  return elementwise([=](Operation *op, ArrayRef<Element> x) -> FailureOr<Element> {
    unsigned width = operandWidth(op);
    uint64_t a = unsignedBits(x[0].integer, width), b = unsignedBits(x[1].integer, width);
    if (b == 0)
      return op->emitOpError("expects a divisor that is not zero, got ") << a << " / 0";
    uint64_t quotient = a / b + (rounding == Rounding::Up && a % b != 0);
    return Element{0, wrap(remainder ? a % b : quotient)};
  });
}

enum class Shift { Left, RightSigned, RightUnsigned };

static Handler shift(Shift how) {
  return elementwise([how](Operation *op, ArrayRef<Element> x) -> FailureOr<Element> {
    unsigned width = operandWidth(op);
    uint64_t places = unsignedBits(x[1].integer, width);
    if (places >= width)
      return op->emitOpError("expects a shift below ") << width << ", got " << places;
    switch (how) {
    case Shift::Left:
      return Element{0, wrap(static_cast<uint64_t>(x[0].integer) << places)};
    case Shift::RightSigned:
      return Element{0, (width == 1 ? -x[0].integer : x[0].integer) >> places};
    case Shift::RightUnsigned:
      return Element{0, wrap(unsignedBits(x[0].integer, width) >> places)};
    }
    llvm_unreachable("all shifts are handled");
  });
}

static FailureOr<Element> compareIntegers(Operation *op, ArrayRef<Element> x) {
  auto bits = [width = operandWidth(op)](const Element &element) {
    return APInt(64, static_cast<uint64_t>(element.integer)).trunc(width);
  };
  return Element{
      0, arith::applyCmpPredicate(cast<arith::CmpIOp>(op).getPredicate(), bits(x[0]), bits(x[1]))};
}

//===-- Floats -------------------------------------------------------------------------------===//

static FailureOr<Element> compareReals(Operation *op, ArrayRef<Element> x) {
  return Element{0, arith::applyCmpPredicate(cast<arith::CmpFOp>(op).getPredicate(),
                                             APFloat(x[0].real), APFloat(x[1].real))};
}

/// maximumf and minimumf hand NaN on; maxnumf and minnumf prefer the number.
static double maximum(double a, double b) {
  if (std::isnan(a) || std::isnan(b))
    return std::numeric_limits<double>::quiet_NaN();
  return a == b ? (std::signbit(a) ? b : a) : std::max(a, b);
}
static double minimum(double a, double b) {
  if (std::isnan(a) || std::isnan(b))
    return std::numeric_limits<double>::quiet_NaN();
  return a == b ? (std::signbit(a) ? a : b) : std::min(a, b);
}

//===-- Conversions --------------------------------------------------------------------------===//

/// Towards zero. What does not fit is undefined in `arith`; here it is the nearest that does.
static FailureOr<Element> realToInteger(Operation *op, ArrayRef<Element> x) {
  unsigned width = widthOf(getElementTypeOrSelf(op->getResult(0).getType()));
  bool isSigned = isa<arith::FPToSIOp>(op);
  double low = isSigned ? -std::ldexp(1.0, width - 1) : 0;
  double high = std::ldexp(1.0, isSigned ? width - 1 : width); // not reached
  double value = std::trunc(x[0].real);
  if (std::isnan(value))
    return Element{0, 0};
  if (value >= high)
    return Element{0, wrap(isSigned ? ~uint64_t(0) >> (65 - width) : ~uint64_t(0))};
  if (value < low)
    value = low;
  return Element{0, isSigned ? static_cast<int64_t>(value) : wrap(static_cast<uint64_t>(value))};
}

static FailureOr<Element> signedToReal(Operation *op, ArrayRef<Element> x) {
  int64_t value = operandWidth(op) == 1 ? -x[0].integer : x[0].integer;
  return Element{static_cast<double>(value), 0};
}

static FailureOr<Element> unsignedToReal(Operation *op, ArrayRef<Element> x) {
  return Element{static_cast<double>(unsignedBits(x[0].integer, operandWidth(op))), 0};
}

static FailureOr<Element> extendSigned(Operation *op, ArrayRef<Element> x) {
  return Element{0, operandWidth(op) == 1 ? -x[0].integer : x[0].integer};
}

static FailureOr<Element> extendUnsigned(Operation *op, ArrayRef<Element> x) {
  return Element{0, wrap(unsignedBits(x[0].integer, operandWidth(op)))};
}

static FailureOr<Element> same(Operation *, ArrayRef<Element> x) { return x[0]; }

/// Rounds to f32 too, which other results are not; nothing where all is exact.
static LogicalResult runTruncF(arith::TruncFOp op, Frame &frame) {
  static const Handler rounding =
      elementwise([](Operation *op, ArrayRef<Element> x) -> FailureOr<Element> {
        Type type = getElementTypeOrSelf(op->getResult(0).getType());
        return Element{roundToType(x[0].real, type), 0};
      });
  static const Handler exact = elementwise(same);
  return (frame.getPrecision() == Precision::Exact ? exact : rounding)(op, frame);
}

/// The same bits as another type. Floats are rounded to theirs first.
static FailureOr<Element> sameBits(Operation *op, ArrayRef<Element> x) {
  Type from = getElementTypeOrSelf(op->getOperand(0).getType());
  Type to = getElementTypeOrSelf(op->getResult(0).getType());
  llvm::APInt bits(widthOf(to), 0);
  if (auto real = dyn_cast<FloatType>(from)) {
    llvm::APFloat number(x[0].real);
    bool losesInfo;
    number.convert(real.getFloatSemantics(), llvm::APFloat::rmNearestTiesToEven, &losesInfo);
    bits = number.bitcastToAPInt();
  } else {
    bits = llvm::APInt(64, static_cast<uint64_t>(x[0].integer)).trunc(widthOf(to));
  }
  auto real = dyn_cast<FloatType>(to);
  if (!real)
    return Element{0, bits.getSExtValue()};
  return Element{llvm::APFloat(real.getFloatSemantics(), bits).convertToDouble(), 0};
}

/// Masks, caches and, by a scalar condition, tensors are chosen whole.
static LogicalResult runSelect(arith::SelectOp op, Frame &frame) {
  static const Handler eachElement =
      elementwise([](Operation *, ArrayRef<Element> x) -> FailureOr<Element> {
        return x[0].integer ? x[1] : x[2];
      });
  if (isa<RankedTensorType>(op.getCondition().getType()))
    return eachElement(op, frame);
  bool isFirst = frame.integer(op.getCondition());
  if (unsigned *sides = frame.getChoices(op))
    *sides |= isFirst ? FirstSide : SecondSide;
  Value chosen = isFirst ? op.getTrueValue() : op.getFalseValue();
  return frame.bind(op, op.getResult(), frame.get(chosen));
}

//===-- Table --------------------------------------------------------------------------------===//

void interpreter::addArithOps(HandlerTable &table) {
  table.add(runConstant);

  table.addAll<arith::AddIOp>(
      integerBinary([](int64_t a, int64_t b) { return wrap(uint64_t(a) + uint64_t(b)); }));
  table.addAll<arith::SubIOp>(
      integerBinary([](int64_t a, int64_t b) { return wrap(uint64_t(a) - uint64_t(b)); }));
  table.addAll<arith::MulIOp>(
      integerBinary([](int64_t a, int64_t b) { return wrap(uint64_t(a) * uint64_t(b)); }));
  table.addAll<arith::AndIOp>(integerBinary([](int64_t a, int64_t b) { return a & b; }));
  table.addAll<arith::OrIOp>(integerBinary([](int64_t a, int64_t b) { return a | b; }));
  table.addAll<arith::XOrIOp>(integerBinary([](int64_t a, int64_t b) { return a ^ b; }));
  table.addAll<arith::MaxSIOp>(integerBinary([](int64_t a, int64_t b) { return std::max(a, b); }));
  table.addAll<arith::MinSIOp>(integerBinary([](int64_t a, int64_t b) { return std::min(a, b); }));
  table.addAll<arith::MaxUIOp>(
      unsignedBinary([](uint64_t a, uint64_t b) { return std::max(a, b); }));
  table.addAll<arith::MinUIOp>(
      unsignedBinary([](uint64_t a, uint64_t b) { return std::min(a, b); }));
  table.addAll<arith::DivSIOp>(signedDivision(Rounding::Zero, false));
  table.addAll<arith::FloorDivSIOp>(signedDivision(Rounding::Down, false));
  table.addAll<arith::CeilDivSIOp>(signedDivision(Rounding::Up, false));
  table.addAll<arith::RemSIOp>(signedDivision(Rounding::Zero, true));
  table.addAll<arith::DivUIOp>(unsignedDivision(Rounding::Zero, false));
  table.addAll<arith::CeilDivUIOp>(unsignedDivision(Rounding::Up, false));
  table.addAll<arith::RemUIOp>(unsignedDivision(Rounding::Zero, true));
  table.addAll<arith::ShLIOp>(shift(Shift::Left));
  table.addAll<arith::ShRSIOp>(shift(Shift::RightSigned));
  table.addAll<arith::ShRUIOp>(shift(Shift::RightUnsigned));
  table.addAll<arith::CmpIOp>(elementwise(compareIntegers));

  table.addAll<arith::AddFOp>(realBinary([](double a, double b) { return a + b; }));
  table.addAll<arith::SubFOp>(realBinary([](double a, double b) { return a - b; }));
  table.addAll<arith::MulFOp>(realBinary([](double a, double b) { return a * b; }));
  table.addAll<arith::DivFOp>(realBinary([](double a, double b) { return a / b; }));
  table.addAll<arith::RemFOp>(realBinary([](double a, double b) { return std::fmod(a, b); }));
  table.addAll<arith::MaximumFOp>(realBinary(maximum));
  table.addAll<arith::MinimumFOp>(realBinary(minimum));
  table.addAll<arith::MaxNumFOp>(realBinary([](double a, double b) { return std::fmax(a, b); }));
  table.addAll<arith::MinNumFOp>(realBinary([](double a, double b) { return std::fmin(a, b); }));
  table.addAll<arith::NegFOp>(realUnary([](double a) { return -a; }));
  table.addAll<arith::CmpFOp>(elementwise(compareReals));

  table.add(runSelect);
  table.addAll<arith::FPToSIOp, arith::FPToUIOp>(elementwise(realToInteger));
  table.addAll<arith::SIToFPOp>(elementwise(signedToReal));
  table.addAll<arith::UIToFPOp>(elementwise(unsignedToReal));
  table.addAll<arith::ExtSIOp, arith::IndexCastOp>(elementwise(extendSigned));
  table.addAll<arith::ExtUIOp, arith::IndexCastUIOp>(elementwise(extendUnsigned));
  table.addAll<arith::ExtFOp, arith::TruncIOp>(elementwise(same));
  table.addAll<arith::BitcastOp>(elementwise(sameBits));
  table.add(runTruncF);
}
