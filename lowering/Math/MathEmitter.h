// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// What expansions of f32 and of f64 are written with: ops on scalars, or on vectors of one shape.
#ifndef FOVEA_LOWERING_MATH_MATHEMITTER_H
#define FOVEA_LOWERING_MATH_MATHEMITTER_H

#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/IR/Builders.h"
#include "mlir/IR/TypeUtilities.h"

namespace mlir::fovea {

class MathEmitter {
protected:
  /// Integers are of type `integer`, in as many lanes.
  MathEmitter(ImplicitLocOpBuilder &b, Type type, Type integer)
      : b(b), type(type), ints(withElement(integer)) {}

  /// The type, of another element.
  Type withElement(Type element) const {
    auto vector = dyn_cast<VectorType>(type);
    return vector ? Type(vector.clone(element)) : element;
  }
  Value constant(Type of, TypedAttr element) {
    if (auto vector = dyn_cast<VectorType>(of))
      element = DenseElementsAttr::get(vector, Attribute(element));
    return arith::ConstantOp::create(b, element);
  }
  Value real(Type of, double value) {
    return constant(of, b.getFloatAttr(getElementTypeOrSelf(of), value));
  }
  Value integer(int64_t value) {
    return constant(ints, b.getIntegerAttr(getElementTypeOrSelf(ints), value));
  }
  Value add(Value x, Value y) { return arith::AddFOp::create(b, x, y); }
  Value sub(Value x, Value y) { return arith::SubFOp::create(b, x, y); }
  Value compare(arith::CmpFPredicate predicate, Value x, Value y) {
    return arith::CmpFOp::create(b, predicate, x, y);
  }
  Value select(Value condition, Value x, Value y) {
    return arith::SelectOp::create(b, condition, x, y);
  }
  Value bits(Value x) { return arith::BitcastOp::create(b, ints, x); }
  Value fromBits(Value x) { return arith::BitcastOp::create(b, type, x); }

  ImplicitLocOpBuilder &b;
  Type type, ints;
};

} // namespace mlir::fovea

#endif // FOVEA_LOWERING_MATH_MATHEMITTER_H
