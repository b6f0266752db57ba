// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// See Scalars.h. Ops that are defined for all operands are cloned as they are.
#include "lowering/Kernels/Scalars.h"
#include "dialects/ElementTypes.h"
#include "dialects/Fovea/FoveaDialect.h"
#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/Math/IR/Math.h"
#include "mlir/IR/Matchers.h"
#include <cmath>

using namespace mlir;
using namespace mlir::fovea;

namespace {

/// Integer arithmetic on one type.
struct Integers {
  Integers(ImplicitLocOpBuilder &b, Type type) : b(b), type(type) {}
  Value constant(int64_t value) {
    return arith::ConstantOp::create(b, b.getIntegerAttr(type, value));
  }
  Value compare(arith::CmpIPredicate predicate, Value l, Value r) {
    return arith::CmpIOp::create(b, predicate, l, r);
  }
  Value select(Value condition, Value l, Value r) {
    return arith::SelectOp::create(b, condition, l, r);
  }
  bool isNegativeOne(Value value) {
    APInt known;
    return matchPattern(value, m_ConstantInt(&known)) && known.isAllOnes();
  }

  ImplicitLocOpBuilder &b;
  Type type;
};

bool isSignedDivision(Operation *op) {
  return isa<arith::DivSIOp, arith::RemSIOp, arith::FloorDivSIOp, arith::CeilDivSIOp>(op);
}
bool isUnsignedDivision(Operation *op) {
  return isa<arith::DivUIOp, arith::RemUIOp, arith::CeilDivUIOp>(op);
}

/// A division whose divisor is neither zero nor -1.
Value divide(ImplicitLocOpBuilder &b, Operation *op, Value l, Value r) {
  Integers i(b, l.getType());
  if (isa<arith::RemSIOp>(op))
    return arith::RemSIOp::create(b, l, r);
  if (isa<arith::RemUIOp>(op))
    return arith::RemUIOp::create(b, l, r);
  if (isa<arith::DivUIOp>(op))
    return arith::DivUIOp::create(b, l, r);
  Value zero = i.constant(0);
  if (isa<arith::CeilDivUIOp>(op)) {
    Value quotient = arith::DivUIOp::create(b, l, r), rest = arith::RemUIOp::create(b, l, r);
    Value more = arith::AddIOp::create(b, quotient, i.constant(1));
    return i.select(i.compare(arith::CmpIPredicate::ne, rest, zero), more, quotient);
  }
  Value quotient = arith::DivSIOp::create(b, l, r);
  if (isa<arith::DivSIOp>(op))
    return quotient;
  Value rest = arith::RemSIOp::create(b, l, r);
  Value restNegative = i.compare(arith::CmpIPredicate::slt, rest, zero);
  Value divisorNegative = i.compare(arith::CmpIPredicate::slt, r, zero);
  bool down = isa<arith::FloorDivSIOp>(op);
  Value sideways = arith::CmpIOp::create(
      b, down ? arith::CmpIPredicate::ne : arith::CmpIPredicate::eq, restNegative, divisorNegative);
  Value inexact = i.compare(arith::CmpIPredicate::ne, rest, zero);
  Value moved = arith::AddIOp::create(b, quotient, i.constant(down ? -1 : 1));
  return i.select(arith::AndIOp::create(b, inexact, sideways), moved, quotient);
}

/// `faults`: a divisor of zero ends the call.
Value emitDivision(ImplicitLocOpBuilder &b, Operation *op, Value l, Value r, bool faults) {
  Integers i(b, l.getType());
  APInt known;
  bool isKnown = matchPattern(r, m_ConstantInt(&known));
  if (isKnown && !known.isZero() && (!known.isAllOnes() || isUnsignedDivision(op)))
    return divide(b, op, l, r);
  Value one = i.constant(1), zero = i.constant(0);
  Value isZero = i.compare(arith::CmpIPredicate::eq, r, zero);
  if (faults)
    FaultOp::create(b, isZero);
  Value divisor = i.select(isZero, one, r);
  if (isUnsignedDivision(op) || l.getType().isInteger(1))
    return divide(b, op, l, divisor);
  // The least number by -1 does not fit.
  Value isMinus = i.compare(arith::CmpIPredicate::eq, r, i.constant(-1));
  divisor = i.select(isMinus, one, divisor);
  Value result = divide(b, op, l, divisor);
  if (isa<arith::RemSIOp>(op))
    return result;
  return i.select(isMinus, arith::SubIOp::create(b, zero, l), result);
}

/// Of i1, the numbers are 0 and 1 unsigned, 0 and -1 signed; both conversions are exact then.
Value emitToInteger(ImplicitLocOpBuilder &b, Operation *op, Value x) {
  Type type = op->getResult(0).getType();
  if (auto shaped = dyn_cast<ShapedType>(type))
    type = shaped.getElementType();
  unsigned width = type.getIntOrFloatBitWidth();
  bool isSigned = isa<arith::FPToSIOp>(op);
  auto real = [&](double value) -> Value {
    return arith::ConstantOp::create(b, b.getFloatAttr(x.getType(), value));
  };
  auto integer = [&](const APInt &value) -> Value {
    return arith::ConstantOp::create(b, b.getIntegerAttr(type, value));
  };
  auto compare = [&](arith::CmpFPredicate predicate, Value l, Value r) -> Value {
    return arith::CmpFOp::create(b, predicate, l, r);
  };
  x = math::TruncOp::create(b, x);
  Value low = real(isSigned ? -std::ldexp(1.0, width - 1) : 0.0);
  Value high = real(std::ldexp(1.0, isSigned ? width - 1 : width)); // the first too great
  Value below = compare(arith::CmpFPredicate::OLT, x, low);
  Value above = compare(arith::CmpFPredicate::OGE, x, high);
  Value inside = arith::AndIOp::create(b, compare(arith::CmpFPredicate::OGE, x, low),
                                       compare(arith::CmpFPredicate::OLT, x, high));
  Value safe = arith::SelectOp::create(b, inside, x, real(0));
  Value result = isSigned ? Value(arith::FPToSIOp::create(b, type, safe))
                          : Value(arith::FPToUIOp::create(b, type, safe));
  APInt least = isSigned ? APInt::getSignedMinValue(width) : APInt::getMinValue(width);
  APInt most = isSigned ? APInt::getSignedMaxValue(width) : APInt::getMaxValue(width);
  result = arith::SelectOp::create(b, below, integer(least), result);
  return arith::SelectOp::create(b, above, integer(most), result);
}

Value emitShift(ImplicitLocOpBuilder &b, Operation *op, Value x, Value places) {
  Integers i(b, x.getType());
  auto shift = [&](Value by) -> Value {
    if (isa<arith::ShLIOp>(op))
      return arith::ShLIOp::create(b, x, by);
    if (isa<arith::ShRSIOp>(op))
      return arith::ShRSIOp::create(b, x, by);
    return arith::ShRUIOp::create(b, x, by);
  };
  unsigned width = x.getType().isIndex() ? 64 : x.getType().getIntOrFloatBitWidth();
  APInt known;
  if (matchPattern(places, m_ConstantInt(&known)) && known.ult(width))
    return shift(places);
  if (width == 1) { // only by zero
    FaultOp::create(b, places);
    return x;
  }
  Value outside = i.compare(arith::CmpIPredicate::uge, places, i.constant(width));
  FaultOp::create(b, outside);
  return shift(i.select(outside, i.constant(0), places));
}

/// Ops that move floats without computing with them, or convert them themselves.
bool keepsBits(Operation *op) {
  return isa<arith::SelectOp, arith::BitcastOp, arith::ExtFOp, arith::TruncFOp, arith::ConstantOp>(
      op);
}

} // namespace

Value mlir::fovea::emitSizeDivision(ImplicitLocOpBuilder &b, Operation *op, ValueRange operands) {
  if (!isSignedDivision(op) && !isUnsignedDivision(op))
    return {};
  return emitDivision(b, op, operands[0], operands[1], /*faults=*/false);
}

SmallVector<Value> mlir::fovea::emitScalar(ImplicitLocOpBuilder &b, Operation *op,
                                           ValueRange operands) {
  if (isSignedDivision(op) || isUnsignedDivision(op))
    return {emitDivision(b, op, operands[0], operands[1], /*faults=*/true)};
  if (isa<arith::ShLIOp, arith::ShRSIOp, arith::ShRUIOp>(op))
    return {emitShift(b, op, operands[0], operands[1])};
  if (isa<arith::FPToSIOp, arith::FPToUIOp>(op)) {
    Value x = operands[0];
    if (isHalf(x.getType()))
      x = arith::ExtFOp::create(b, b.getF32Type(), x);
    return {emitToInteger(b, op, x)};
  }
  return emitRounded(b, op, operands);
}

SmallVector<Value> mlir::fovea::emitRounded(ImplicitLocOpBuilder &b, Operation *op,
                                            ValueRange operands) {
  SmallVector<Value> given(operands);
  SmallVector<Type> types = llvm::map_to_vector(
      op->getResultTypes(), [&](Type type) { return getElementTypeOrSelf(type); });
  SmallVector<Type> wanted = types;
  if (!keepsBits(op)) {
    for (Value &value : given)
      if (isHalf(value.getType()))
        value = arith::ExtFOp::create(b, b.getF32Type(), value);
    for (Type &type : types)
      if (isHalf(type))
        type = b.getF32Type();
  }
  OperationState state(op->getLoc(), op->getName(), given, types,
                       op->getDiscardableAttrDictionary().getValue());
  state.propertiesAttr = op->getPropertiesAsAttribute();
  SmallVector<Value> results(b.create(state)->getResults());
  for (auto [value, type] : llvm::zip_equal(results, wanted))
    if (value.getType() != type)
      value = arith::TruncFOp::create(b, type, value);
  return results;
}
