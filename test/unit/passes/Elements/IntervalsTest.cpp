// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "passes/Elements/Intervals.h"
#include "test/unit/passes/Elements/Numbers.h"
#include <gtest/gtest.h>

using namespace mlir;
using namespace mlir::fovea;
using namespace mlir::fovea::raise;

namespace {

struct Intervals : testing::Test, Numbers {
  IntervalAnalysis analysis{e};
  /// x lies in [0, 1].
  void giveProbability() {
    analysis.given = [this](Expr part) -> std::optional<Interval> {
      return part == x ? std::optional(Interval::between(0, 1)) : std::nullopt;
    };
  }
};

TEST_F(Intervals, clampsOfProbabilitiesFold) {
  giveProbability();
  EXPECT_EQ(analysis.fold(max(min(x, number(1)), number(0))), x);
  Expr capped = min(x, number(0.9));
  EXPECT_EQ(analysis.fold(capped), capped);
}

TEST_F(Intervals, unknownsAreNotBounded) {
  for (Expr kept : {max(x, number(0)), min(x, number(1)), abs(x)})
    EXPECT_EQ(analysis.fold(kept), kept);
}

TEST_F(Intervals, exponentialsArePositiveAndSquaresNotNegative) {
  for (Expr inner : {exp(x), mul(x, x), abs(x)})
    EXPECT_EQ(analysis.fold(max(inner, number(0))), inner);
  EXPECT_TRUE(analysis.get(exp(x)).isAbove(0));
  EXPECT_FALSE(analysis.get(mul(x, x)).isAbove(0));
}

TEST_F(Intervals, hyperbolicTangentsAreBounded) {
  Expr tanh = op<math::TanhOp>({x});
  EXPECT_EQ(analysis.fold(min(tanh, number(1))), tanh);
  Expr less = min(tanh, number(0.999));
  EXPECT_EQ(analysis.fold(less), less);
}

TEST_F(Intervals, branchesHoldWhatTheirConditionSays) {
  Expr isNegative = compare(arith::CmpFPredicate::OLT, x, number(0));
  EXPECT_TRUE(analysis.get(select(isNegative, negate(x), x)).isAtLeast(0));
  EXPECT_FALSE(analysis.get(select(isNegative, x, x)).isAtLeast(0));
  EXPECT_FALSE(analysis.get(select(isNegative, x, negate(x))).isAtLeast(0));
  EXPECT_TRUE(analysis.get(select(isNegative, x, negate(x))).isAtMost(0));
}

TEST_F(Intervals, zeroTimesInfinityIsNoNumber) {
  Expr low = number(-std::numeric_limits<double>::infinity());
  Expr masked = select(compare(arith::CmpFPredicate::OGT, unknown(), number(0)), x, low);
  EXPECT_FALSE(analysis.get(masked).mayBeNan);
  EXPECT_TRUE(analysis.get(mul(number(0), masked)).mayBeNan);
  EXPECT_TRUE(analysis.get(op<arith::SubFOp>({masked, masked})).mayBeNan);
  EXPECT_FALSE(analysis.get(exp(masked)).mayBeNan);
}

} // namespace
