// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "passes/Elements/Equivalence.h"
#include "mlir/Parser/Parser.h"
#include "test/unit/passes/Elements/Numbers.h"
#include <gtest/gtest.h>

using namespace mlir;
using namespace mlir::fovea;
using namespace mlir::fovea::raise;

namespace {

struct Equivalence : testing::Test, Numbers {
  Verdict compareWith(Expr source, Expr formula) {
    Claim claim;
    claim.source = source;
    claim.formula = formula;
    claim.dims = {axis};
    claim.ranges = ranges;
    return decide(e, claim);
  }
  Expr beyond(double border, Expr yes, Expr no) {
    return select(compare(arith::CmpFPredicate::OGT, x, number(border)), yes, no);
  }
  std::function<std::optional<Interval>(Expr)> ranges;
};

TEST_F(Equivalence, smoothFunctionsThatAgree) {
  Expr more = add(x, number(1));
  Expr sum = add(add(mul(x, x), mul(number(2), x)), number(1));
  EXPECT_TRUE(compareWith(mul(more, more), sum));
  EXPECT_EQ(compareWith(mul(more, more), add(sum, number(1e-3))).kind, Verdict::Different);
}

TEST_F(Equivalence, carriedNodesAreComparedWithTheirConstants) {
  Expr bounded = max(x, number(0.3));
  EXPECT_TRUE(compareWith(mul(number(2), bounded), add(bounded, bounded)));
  EXPECT_FALSE(compareWith(bounded, max(x, number(0.3001))));
}

TEST_F(Equivalence, whatRangesDecideFolds) {
  Expr clamped = max(min(x, number(1)), number(0));
  EXPECT_FALSE(compareWith(clamped, x));
  ranges = [this](Expr part) -> std::optional<Interval> {
    return part == x ? std::optional(Interval::between(0, 1)) : std::nullopt;
  };
  EXPECT_TRUE(compareWith(clamped, x));
}

TEST_F(Equivalence, sidesThatNoDrawTakesAreUnseen) {
  Verdict verdict = compareWith(beyond(1e30, number(0), x), x);
  EXPECT_EQ(verdict.kind, Verdict::Unseen);
  EXPECT_TRUE(verdict.culprit && verdict.culprit->is<arith::SelectOp>());
}

TEST_F(Equivalence, bordersFarFromOneAreFound) {
  for (double border : {1e-4, 3.0, 250.0, 1e5})
    EXPECT_FALSE(compareWith(beyond(border, mul(x, x), x), x)) << border;
}

TEST_F(Equivalence, nodesThatDoNotMatterAreFree) {
  // What all summands share is a factor of both.
  Expr shift = max(unknown(), number(0.5));
  Expr of = exp(op<arith::SubFOp>({x, shift}));
  EXPECT_TRUE(compareWith(op<arith::DivFOp>({of, exp(negate(shift))}), exp(x)));
}

/// |x| > c ? |x| : x is x wherever x is not below -c: each node by itself takes both sides there.
TEST_F(Equivalence, sidesOfOneNodeInTwoPlacesAreNotMixedUp) {
  Claim claim;
  Expr size = abs(x);
  claim.source = select(compare(arith::CmpFPredicate::OGT, size, number(2)), size, x);
  claim.formula = x;
  claim.dims = {axis};
  // Numbers far below zero are never drawn.
  claim.draw = [](Expr leaf, ArrayRef<int64_t> at, const Draw &how) -> std::optional<Number> {
    double unit = static_cast<double>(mix(how.seed, leaf->variable, at) >> 11) * 0x1p-52 - 1;
    return Number{unit > 0 ? how.magnitude * 4 * unit : unit, 0};
  };
  EXPECT_FALSE(decide(e, claim));
}

/// A power of a size is below rounding until the size is large.
TEST_F(Equivalence, powersOfSizesAreLookedAtWhereTheyAreLarge) {
  context.loadDialect<func::FuncDialect>();
  OwningOpRef<ModuleOp> module = parseSourceString<ModuleOp>(
      "func.func private @f(tensor<?xf32>) func.func @g(%t: tensor<?xf32>) { return }", &context);
  ASSERT_TRUE(module);
  Value tensor = module->lookupSymbol<func::FuncOp>("g").getArgument(0);
  Expr size = e.index(e.getSize(tensor, 0), IntegerType::get(&context, 64));
  Expr share = op<arith::DivFOp>({e.compute<arith::SIToFPOp>(type, {size}), number(270)});
  Expr power = op<math::PowFOp>({share, number(8)});
  EXPECT_FALSE(compareWith(mul(x, add(number(1), power)), x));
  EXPECT_TRUE(compareWith(mul(x, add(number(1), power)), add(x, mul(x, power))));
}

/// A logarithm of what is carried says something only where it is not negative.
TEST_F(Equivalence, carriedMasksAreDrawnWithinTheirRange) {
  Expr keep = e.compute<arith::UIToFPOp>(
      type, {compare(arith::CmpFPredicate::OGT, unknown(), number(0.1))});
  Expr logarithm = op<math::LogOp>({keep});
  EXPECT_TRUE(compareWith(mul(exp(x), keep), exp(add(x, logarithm))));
  EXPECT_FALSE(compareWith(mul(exp(x), keep), exp(add(mul(x, number(1.001)), logarithm))));
}

TEST_F(Equivalence, whatCannotBeEvaluatedAgreesWithNothing) {
  unsigned many = e.addDim(getAffineConstantExpr(int64_t(1) << 40, &context));
  Expr place = e.compute<arith::SIToFPOp>(
      type, {e.index(getAffineDimExpr(many, &context), IntegerType::get(&context, 64))});
  Expr sum = e.reduce(Combiner::Add, many, mul(place, x));
  EXPECT_EQ(compareWith(sum, mul(number(1), sum)).kind, Verdict::Equal); // the same
  EXPECT_FALSE(compareWith(sum, add(sum, number(1))));
}

} // namespace
