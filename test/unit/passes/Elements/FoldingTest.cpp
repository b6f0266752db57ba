// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "test/unit/passes/Elements/Numbers.h"
#include <cmath>
#include <gtest/gtest.h>

using namespace mlir;
using namespace mlir::fovea;
using namespace mlir::fovea::raise;

namespace {

struct Folding : testing::Test, Numbers {
  Type i1 = IntegerType::get(&context, 1), i32 = IntegerType::get(&context, 32);
  Type i64 = IntegerType::get(&context, 64);
  Expr yes = e.constant(int64_t(1), i1), no = e.constant(int64_t(0), i1);

  Expr boolean() { return compare(arith::CmpFPredicate::OGT, unknown(), number(0.5)); }
  Expr integer(int64_t value) { return e.constant(value, i64); }
  /// The place along the axis, from 0 to 6.
  Expr place() { return e.index(getAffineDimExpr(axis, &context), i64); }
  /// A place from -3 to 3.
  Expr signedPlace() { return e.index(getAffineDimExpr(axis, &context) - 3, i64); }
  /// An integer that nothing is known of.
  Expr id() {
    unsigned variable = e.addVariable(getAffineConstantExpr(7, &context));
    return e.variable(variable, i64, e.dim(axis));
  }
  template <typename OpT> Expr logical(Expr a, Expr b) { return e.compute<OpT>(i1, {a, b}); }
  template <typename OpT> Expr integers(Expr a, Expr b) { return e.compute<OpT>(i64, {a, b}); }
  AffineExpr at(Expr index) { return index->getAffine(); }
};

TEST_F(Folding, equalExpressionsAreOneNode) {
  EXPECT_EQ(add(x, number(2)), add(x, number(2)));
  EXPECT_NE(add(x, number(2)), add(number(2), x));
  // Flags that only allow more are no difference.
  NamedAttribute flags(StringAttr::get(&context, "fastmath"),
                       arith::FastMathFlagsAttr::get(&context, arith::FastMathFlags::fast));
  EXPECT_EQ(e.compute<arith::AddFOp>(type, {x, x}, DictionaryAttr::get(&context, flags)),
            add(x, x));
}

TEST_F(Folding, numbersThatChangeNothingGo) {
  EXPECT_EQ(add(x, number(0)), x);
  EXPECT_EQ(add(number(0), x), x);
  EXPECT_EQ(op<arith::SubFOp>({x, number(0)}), x);
  EXPECT_EQ(mul(number(1), x), x);
  EXPECT_EQ(mul(x, number(1)), x);
  EXPECT_EQ(op<arith::DivFOp>({x, number(1)}), x);
  // On the other side they matter.
  EXPECT_NE(op<arith::SubFOp>({number(0), x}), x);
  EXPECT_NE(op<arith::DivFOp>({number(1), x}), x);
  // Zero times infinity is no number.
  EXPECT_TRUE(mul(x, number(0))->is<arith::MulFOp>());
}

TEST_F(Folding, constantsAreComputed) {
  EXPECT_EQ(add(number(2), number(3)), number(5));
  EXPECT_EQ(exp(number(0)), number(1));
  EXPECT_EQ(max(number(2), number(-3)), number(2));
  EXPECT_EQ(e.compute<arith::FPToSIOp>(i64, {number(-2.7)}), integer(-2));
  EXPECT_EQ(e.compute<arith::SIToFPOp>(type, {integer(4)}), number(4));
  // What has no value stays an op.
  EXPECT_TRUE(integers<arith::DivSIOp>(integer(1), integer(0))->is<arith::DivSIOp>());
}

TEST_F(Folding, powersOfNumbersAreExponentials) {
  EXPECT_EQ(op<math::PowFOp>({number(2), x}), exp(mul(x, number(std::log(2.0)))));
  EXPECT_TRUE(op<math::PowFOp>({number(-2), x})->is<math::PowFOp>());
  EXPECT_EQ(op<math::PowFOp>({number(2), number(3)}), number(8));
}

TEST_F(Folding, castsToTheSameTypeGo) {
  EXPECT_EQ(e.convert(x, type), x);
  EXPECT_EQ(op<arith::ExtFOp>({x}), x);
  EXPECT_TRUE(e.convert(x, Float32Type::get(&context))->is<arith::TruncFOp>());
}

TEST_F(Folding, choicesThatAreDecided) {
  Expr y = unknown();
  EXPECT_EQ(select(yes, x, y), x);
  EXPECT_EQ(select(no, x, y), y);
  Expr condition = boolean();
  EXPECT_EQ(select(condition, x, x), x);
  EXPECT_EQ(e.compute<arith::SelectOp>(i1, {condition, yes, no}), condition);
  EXPECT_TRUE(e.compute<arith::SelectOp>(i1, {condition, no, yes})->is<arith::SelectOp>());
}

TEST_F(Folding, logicOfBooleans) {
  Expr a = boolean(), b = boolean();
  EXPECT_EQ(logical<arith::AndIOp>(a, yes), a);
  EXPECT_EQ(logical<arith::AndIOp>(no, a), no);
  EXPECT_EQ(logical<arith::OrIOp>(a, no), a);
  EXPECT_EQ(logical<arith::OrIOp>(yes, a), yes);
  EXPECT_EQ(logical<arith::AndIOp>(a, a), a);
  EXPECT_EQ(logical<arith::OrIOp>(a, a), a);
  EXPECT_TRUE(logical<arith::AndIOp>(a, b)->is<arith::AndIOp>());
  Expr isNot = logical<arith::XOrIOp>(a, yes);
  EXPECT_TRUE(isNot->is<arith::XOrIOp>());
  EXPECT_EQ(logical<arith::XOrIOp>(isNot, yes), a);
  EXPECT_EQ(logical<arith::XOrIOp>(yes, isNot), a);
  EXPECT_EQ(logical<arith::XOrIOp>(a, no), a);
  EXPECT_EQ(logical<arith::XOrIOp>(yes, yes), no);
}

TEST_F(Folding, integersOfPlacesStayIndexArithmetic) {
  AffineExpr i = getAffineDimExpr(axis, &context);
  EXPECT_EQ(at(integers<arith::AddIOp>(place(), integer(2))), i + 2);
  EXPECT_EQ(at(integers<arith::SubIOp>(place(), integer(2))), i - 2);
  EXPECT_EQ(at(integers<arith::MulIOp>(integer(3), place())), i * 3);
  EXPECT_EQ(at(integers<arith::DivSIOp>(place(), integer(2))), i.floorDiv(2));
  EXPECT_EQ(at(integers<arith::RemUIOp>(place(), integer(2))), i % 2);
  EXPECT_EQ(at(e.compute<arith::TruncIOp>(i32, {place()})), i);
  // A product of places is none.
  EXPECT_FALSE(at(integers<arith::MulIOp>(place(), place())));
}

TEST_F(Folding, quotientsAreRoundedAsTheirOpSays) {
  AffineExpr i = getAffineDimExpr(axis, &context) - 3;
  EXPECT_EQ(at(integers<arith::FloorDivSIOp>(signedPlace(), integer(2))), i.floorDiv(2));
  EXPECT_EQ(at(integers<arith::CeilDivSIOp>(signedPlace(), integer(2))), i.ceilDiv(2));
  // Towards zero, which affine expressions do not know.
  EXPECT_FALSE(at(integers<arith::DivSIOp>(signedPlace(), integer(2))));
  EXPECT_FALSE(at(integers<arith::RemSIOp>(signedPlace(), integer(2))));
  EXPECT_FALSE(at(integers<arith::FloorDivSIOp>(place(), integer(-2))));
}

TEST_F(Folding, quotientsThatAreRoundedByHand) {
  AffineExpr i = getAffineDimExpr(axis, &context) - 3;
  Expr asFloat = e.compute<arith::SIToFPOp>(type, {signedPlace()});
  auto floorOf = [&](double by) {
    return e.compute<arith::FPToSIOp>(
        i64, {op<math::FloorOp>({op<arith::DivFOp>({asFloat, number(by)})})});
  };
  EXPECT_EQ(at(floorOf(2)), i.floorDiv(2));
  EXPECT_FALSE(at(floorOf(2.5)));
  EXPECT_FALSE(at(floorOf(-2)));
  // r < 0 ? r + n : r
  Expr by = integer(4), remainder = integers<arith::RemSIOp>(signedPlace(), by);
  Expr isNegative = e.compare(arith::CmpIPredicate::slt, remainder, integer(0));
  Expr more = integers<arith::AddIOp>(remainder, by);
  EXPECT_EQ(at(e.compute<arith::SelectOp>(i64, {isNegative, more, remainder})), e.simplify(i % 4));
  Expr less = integers<arith::AddIOp>(remainder, integer(3));
  EXPECT_FALSE(at(e.compute<arith::SelectOp>(i64, {isNegative, less, remainder})));
}

TEST_F(Folding, theGreaterOfPlacesWhereItIsKnown) {
  EXPECT_EQ(integers<arith::MaxSIOp>(place(), integer(0)), place());
  EXPECT_EQ(integers<arith::MinSIOp>(place(), integer(6)), place());
  EXPECT_EQ(integers<arith::MinSIOp>(place(), integer(-1)), integer(-1));
  EXPECT_TRUE(integers<arith::MaxSIOp>(place(), integer(3))->is<arith::MaxSIOp>());
}

TEST_F(Folding, comparisonsThatRangesDecide) {
  EXPECT_EQ(e.compare(arith::CmpIPredicate::slt, place(), integer(7)), yes);
  EXPECT_EQ(e.compare(arith::CmpIPredicate::sge, place(), integer(7)), no);
  EXPECT_EQ(e.compare(arith::CmpIPredicate::eq, place(), integer(9)), no);
  EXPECT_EQ(e.compare(arith::CmpIPredicate::ne, place(), integer(9)), yes);
  EXPECT_TRUE(e.compare(arith::CmpIPredicate::slt, place(), integer(6))->is<arith::CmpIOp>());
  EXPECT_EQ(e.compare(arith::CmpIPredicate::sle, id(), id())->args.size(), 2u);
  Expr same = id();
  EXPECT_EQ(e.compare(arith::CmpIPredicate::sle, same, same), yes);
  EXPECT_EQ(e.compare(arith::CmpIPredicate::ult, same, same), no);
}

TEST_F(Folding, unsignedComparisonsOfPlacesAreSigned) {
  EXPECT_EQ(e.compare(arith::CmpIPredicate::ult, place(), integer(3)),
            e.compare(arith::CmpIPredicate::slt, place(), integer(3)));
  EXPECT_EQ(getPredicate(e.compare(arith::CmpIPredicate::ult, signedPlace(), integer(3))),
            arith::CmpIPredicate::ult);
}

TEST_F(Folding, booleansAsNumbersAreComparedAsBooleans) {
  Expr condition = boolean(), extended = e.compute<arith::ExtUIOp>(i64, {condition});
  EXPECT_EQ(e.compare(arith::CmpIPredicate::ne, extended, integer(0)), condition);
  EXPECT_EQ(e.compare(arith::CmpIPredicate::sgt, extended, integer(0)), condition);
  EXPECT_EQ(e.compare(arith::CmpIPredicate::eq, extended, integer(0)),
            logical<arith::XOrIOp>(condition, yes));
  EXPECT_EQ(e.compare(arith::CmpIPredicate::slt, extended, integer(2)), yes);
  EXPECT_EQ(e.compare(arith::CmpIPredicate::eq, extended, integer(2)), no);
}

TEST_F(Folding, remaindersAreZeroWhateverTheirSign) {
  Expr remainder = integers<arith::RemSIOp>(signedPlace(), integer(2));
  Expr isEven = e.compare(arith::CmpIPredicate::eq, remainder, integer(0));
  ASSERT_TRUE(isEven->is<arith::CmpIOp>());
  EXPECT_EQ(at(isEven->args[0]), e.simplify((getAffineDimExpr(axis, &context) - 3) % 2));
}

TEST_F(Folding, reductionsOfNothing) {
  EXPECT_EQ(e.reduce(Combiner::Add, axis, number(0)), number(0));
  EXPECT_EQ(e.reduce(Combiner::Mul, axis, number(1)), number(1));
  EXPECT_EQ(e.reduce(Combiner::Add, axis, number(1))->kind, Node::Kind::Reduce);
}

TEST_F(Folding, substitutionDoesNotCaptureWhatASumBinds) {
  unsigned other = e.addDim(getAffineConstantExpr(7, &context));
  unsigned table =
      e.addVariable({getAffineConstantExpr(7, &context), getAffineConstantExpr(7, &context)});
  Expr element = e.variable(table, type, {e.dim(axis), e.dim(other)});
  Expr sum = e.reduce(Combiner::Add, other, element);
  // sum_k t[axis, k] at axis = other is no trace.
  Expr moved = e.substitute(sum, {{axis, e.dim(other)}});
  ASSERT_EQ(moved->kind, Node::Kind::Reduce);
  EXPECT_NE(moved->dim, other);
  EXPECT_TRUE(moved->dependsOn(other));
}

} // namespace
