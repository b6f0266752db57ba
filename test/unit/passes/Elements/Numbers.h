// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Expressions of f64 for tests, written as formulas.
#ifndef FOVEA_TEST_UNIT_PASSES_ELEMENTS_NUMBERS_H
#define FOVEA_TEST_UNIT_PASSES_ELEMENTS_NUMBERS_H

#include "dialects/Fovea/FoveaDialect.h"
#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/Math/IR/Math.h"
#include "mlir/IR/Builders.h"
#include "passes/Elements/Expression.h"

namespace mlir::fovea::raise {

/// Expressions over x, an unknown at each place of an axis of 7.
class Numbers {
public:
  Numbers() : e(load(context)), type(Float64Type::get(&context)) {
    axis = e.addDim(getAffineConstantExpr(7, &context));
    x = unknown();
  }

  Expr unknown() {
    unsigned number = e.addVariable(getAffineConstantExpr(7, &context));
    return e.variable(number, type, e.dim(axis));
  }
  Expr number(double value) { return e.constant(value, type); }
  template <typename OpT> Expr op(ArrayRef<Expr> args) { return e.compute<OpT>(type, args); }
  Expr add(Expr a, Expr b) { return op<arith::AddFOp>({a, b}); }
  Expr mul(Expr a, Expr b) { return op<arith::MulFOp>({a, b}); }
  Expr max(Expr a, Expr b) { return op<arith::MaximumFOp>({a, b}); }
  Expr min(Expr a, Expr b) { return op<arith::MinimumFOp>({a, b}); }
  Expr abs(Expr a) { return op<math::AbsFOp>({a}); }
  Expr exp(Expr a) { return op<math::ExpOp>({a}); }
  Expr negate(Expr a) { return op<arith::NegFOp>({a}); }
  Expr compare(arith::CmpFPredicate predicate, Expr a, Expr b) {
    NamedAttribute kind(StringAttr::get(&context, "predicate"),
                        arith::CmpFPredicateAttr::get(&context, predicate));
    return e.compute<arith::CmpFOp>(IntegerType::get(&context, 1), {a, b},
                                    DictionaryAttr::get(&context, kind));
  }
  Expr select(Expr condition, Expr yes, Expr no) {
    return op<arith::SelectOp>({condition, yes, no});
  }

  MLIRContext context;
  Expressions e;
  FloatType type;
  unsigned axis;
  Expr x;

private:
  static MLIRContext *load(MLIRContext &context) {
    context.loadDialect<FoveaDialect, arith::ArithDialect, math::MathDialect>();
    return &context;
  }
};

} // namespace mlir::fovea::raise

#endif // FOVEA_TEST_UNIT_PASSES_ELEMENTS_NUMBERS_H
