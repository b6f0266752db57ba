// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "passes/Elements/Evaluate.h"
#include "test/unit/passes/Elements/Numbers.h"
#include <cmath>
#include <gtest/gtest.h>

using namespace mlir;
using namespace mlir::fovea;
using namespace mlir::fovea::raise;

namespace {

struct Evaluation : testing::Test, Numbers {
  Type i1 = IntegerType::get(&context, 1), i64 = IntegerType::get(&context, 64);
  double given = 0;

  /// Of x = `given`.
  Evaluator makeEvaluator() {
    Evaluator evaluate(e, /*seed=*/1, SmallVector<int64_t>(e.getNumDims()));
    evaluate.given = [this](Expr leaf, ArrayRef<int64_t>) -> std::optional<Number> {
      return leaf == x ? std::optional(Number{given, 0}) : std::nullopt;
    };
    return evaluate;
  }
  double at(double value, Expr expr) {
    given = value;
    return *makeEvaluator().evaluateReal(expr);
  }
  std::optional<int64_t> integerAt(double value, Expr expr) {
    given = value;
    std::optional<Number> number = makeEvaluator().evaluate(expr);
    return number ? std::optional(number->integer) : std::nullopt;
  }
  bool isAt(double value, arith::CmpFPredicate predicate, double other) {
    return *integerAt(value, compare(predicate, x, number(other))) != 0;
  }
  Expr place() { return e.index(getAffineDimExpr(axis, &context), i64); }
};

TEST_F(Evaluation, functionsOfFloats) {
  EXPECT_EQ(at(3, add(x, number(2))), 5);
  EXPECT_EQ(at(3, op<arith::SubFOp>({number(2), x})), -1);
  EXPECT_EQ(at(3, op<arith::DivFOp>({x, number(2)})), 1.5);
  EXPECT_EQ(at(-7, op<arith::RemFOp>({x, number(4)})), -3);
  EXPECT_EQ(at(3, op<math::FmaOp>({x, x, number(1)})), 10);
  EXPECT_EQ(at(2.5, op<math::RoundEvenOp>({x})), 2);
  EXPECT_EQ(at(2.5, op<math::RoundOp>({x})), 3);
  EXPECT_EQ(at(-2.5, op<math::FloorOp>({x})), -3);
  EXPECT_EQ(at(4, op<math::RsqrtOp>({x})), 0.5);
  EXPECT_EQ(at(-2, op<math::CopySignOp>({number(3), x})), -3);
  EXPECT_EQ(at(-2, op<math::FPowIOp>({x, e.constant(int64_t(3), i64)})), -8);
  EXPECT_DOUBLE_EQ(at(0.5, exp(x)), std::exp(0.5));
}

TEST_F(Evaluation, maximaAndMinimaOfNaN) {
  double nan = std::nan("");
  EXPECT_TRUE(std::isnan(at(nan, max(x, number(1)))));
  EXPECT_TRUE(std::isnan(at(nan, min(number(1), x))));
  EXPECT_EQ(at(nan, op<arith::MaxNumFOp>({x, number(1)})), 1);
  EXPECT_EQ(at(nan, op<arith::MinNumFOp>({number(1), x})), 1);
}

TEST_F(Evaluation, comparisonsOfFloats) {
  double nan = std::nan("");
  EXPECT_TRUE(isAt(1, arith::CmpFPredicate::OLT, 2));
  EXPECT_FALSE(isAt(2, arith::CmpFPredicate::OLT, 2));
  EXPECT_TRUE(isAt(2, arith::CmpFPredicate::OLE, 2));
  EXPECT_FALSE(isAt(nan, arith::CmpFPredicate::OLT, 2));
  EXPECT_TRUE(isAt(nan, arith::CmpFPredicate::ULT, 2));
  EXPECT_TRUE(isAt(nan, arith::CmpFPredicate::UNO, 2));
  EXPECT_EQ(integerAt(nan, e.compute<math::IsNaNOp>(i1, {x})), 1);
  EXPECT_EQ(integerAt(HUGE_VAL, e.compute<math::IsInfOp>(i1, {x})), 1);
  EXPECT_EQ(integerAt(HUGE_VAL, e.compute<math::IsFiniteOp>(i1, {x})), 0);
}

TEST_F(Evaluation, choices) {
  Expr absolute = select(compare(arith::CmpFPredicate::OLT, x, number(0)), negate(x), x);
  EXPECT_EQ(at(-3, absolute), 3);
  EXPECT_EQ(at(3, absolute), 3);
}

TEST_F(Evaluation, integers) {
  Expr rounded = e.compute<arith::FPToSIOp>(i64, {x});
  auto with = [&](auto tag, int64_t other) {
    return e.compute<decltype(tag)>(i64, {rounded, e.constant(other, i64)});
  };
  EXPECT_EQ(integerAt(-7.9, rounded), -7);
  EXPECT_EQ(integerAt(-7, with(arith::DivSIOp(), 2)), -3);
  EXPECT_EQ(integerAt(-7, with(arith::FloorDivSIOp(), 2)), -4);
  EXPECT_EQ(integerAt(-7, with(arith::CeilDivSIOp(), 2)), -3);
  EXPECT_EQ(integerAt(-7, with(arith::RemSIOp(), 4)), -3);
  EXPECT_EQ(integerAt(5, with(arith::ShLIOp(), 2)), 20);
  EXPECT_EQ(integerAt(5, with(arith::XOrIOp(), 1)), 4);
  EXPECT_EQ(integerAt(-7, e.compute<math::AbsIOp>(i64, {rounded})), 7);
  // True is one, or minus one with a sign.
  Expr isAbove = compare(arith::CmpFPredicate::OGT, x, number(0));
  EXPECT_EQ(integerAt(1, e.compute<arith::ExtUIOp>(i64, {isAbove})), 1);
  EXPECT_EQ(integerAt(1, e.compute<arith::ExtSIOp>(i64, {isAbove})), -1);
}

TEST_F(Evaluation, whatHasNoValueHasNone) {
  Expr rounded = e.compute<arith::FPToSIOp>(i64, {x});
  EXPECT_FALSE(integerAt(1e300, rounded));
  EXPECT_FALSE(integerAt(std::nan(""), rounded));
  Expr quotient = e.compute<arith::DivSIOp>(i64, {e.constant(int64_t(1), i64), rounded});
  EXPECT_FALSE(integerAt(0.5, quotient));
  EXPECT_EQ(integerAt(1, quotient), 1);
}

TEST_F(Evaluation, sumsGoOverTheirAxis) {
  Expr asFloat = e.compute<arith::SIToFPOp>(type, {place()});
  EXPECT_EQ(at(0, e.reduce(Combiner::Add, axis, asFloat)), 21);
  EXPECT_EQ(at(0, e.reduce(Combiner::Max, axis, asFloat)), 6);
  EXPECT_EQ(at(0, e.reduce(Combiner::Min, axis, asFloat)), 0);
  EXPECT_EQ(at(0, e.reduce(Combiner::Mul, axis, add(asFloat, number(1)))), 5040);
}

TEST_F(Evaluation, oneElementIsOneNumber) {
  Expr y = unknown();
  SmallVector<double> numbers;
  for (uint64_t seed : {1, 1, 2}) {
    Evaluator evaluate(e, seed, SmallVector<int64_t>(e.getNumDims()));
    numbers.push_back(*evaluate.evaluateReal(y));
  }
  EXPECT_EQ(numbers[0], numbers[1]);
  EXPECT_NE(numbers[0], numbers[2]);
}

TEST_F(Evaluation, narrowFloatsAreRoundedWhereAsked) {
  Expr narrow = e.convert(x, BFloat16Type::get(&context));
  given = 1 + 1e-3;
  Evaluator exact = makeEvaluator(), rounding = makeEvaluator();
  rounding.rounds = true;
  EXPECT_EQ(exact.evaluateReal(narrow), given);
  EXPECT_EQ(rounding.evaluateReal(narrow), 1);
}

TEST_F(Evaluation, exponentialsThatOverflowAreNoticed) {
  given = 1000;
  Evaluator evaluate = makeEvaluator();
  EXPECT_EQ(evaluate.evaluateReal(exp(x)), HUGE_VAL);
  EXPECT_TRUE(evaluate.overflows);
  Evaluator fine = makeEvaluator();
  EXPECT_EQ(fine.evaluateReal(exp(negate(x))), 0);
  EXPECT_FALSE(fine.overflows);
}

TEST_F(Evaluation, choicesAreObserved) {
  Expr larger = max(x, number(1));
  given = 3;
  Evaluator evaluate = makeEvaluator();
  SmallVector<Expr> seen;
  evaluate.observe = [&](Expr node, ArrayRef<Number> args, Number result) {
    seen.push_back(node);
    EXPECT_EQ(args[0].real, 3);
    EXPECT_EQ(result.real, 3);
  };
  EXPECT_EQ(evaluate.evaluateReal(add(larger, number(1))), 4);
  EXPECT_EQ(seen, SmallVector<Expr>{larger});
}

TEST_F(Evaluation, theBudgetEnds) {
  unsigned many = e.addDim(getAffineConstantExpr(int64_t(1) << 40, &context));
  Expr far = e.compute<arith::SIToFPOp>(type, {e.index(getAffineDimExpr(many, &context), i64)});
  EXPECT_FALSE(makeEvaluator().evaluateReal(e.reduce(Combiner::Add, many, mul(far, x))));
}

} // namespace
