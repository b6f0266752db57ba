// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "mlir/Parser/Parser.h"
#include "test/unit/passes/Elements/Numbers.h"
#include <gtest/gtest.h>

using namespace mlir;
using namespace mlir::fovea;
using namespace mlir::fovea::raise;

namespace {

/// Places i < 7, j < 8, k < 3 and a place along an axis of open size.
struct IndexArithmetic : testing::Test, Numbers {
  IndexArithmetic() {
    context.loadDialect<func::FuncDialect>();
    module = parseSourceString<ModuleOp>("func.func @f(%t: tensor<?x?xf32>) { return }", &context);
    Value tensor = module->lookupSymbol<func::FuncOp>("f").getArgument(0);
    size = e.getSize(tensor, 0);
    otherSize = e.getSize(tensor, 1);
    i = getAffineDimExpr(axis, &context);
    j = addPlace(number(8));
    k = addPlace(number(3));
    open = addPlace(size);
  }
  AffineExpr number(int64_t value) { return getAffineConstantExpr(value, &context); }
  AffineExpr addPlace(AffineExpr extent) { return getAffineDimExpr(e.addDim(extent), &context); }
  unsigned dimOf(AffineExpr place) { return cast<AffineDimExpr>(place).getPosition(); }
  using Bounds = std::pair<std::optional<int64_t>, std::optional<int64_t>>;

  OwningOpRef<ModuleOp> module;
  AffineExpr i, j, k, open, size, otherSize;
};

TEST_F(IndexArithmetic, quotientsAndRemaindersOfJoinedPlaces) {
  AffineExpr joined = i * 8 + j;
  EXPECT_EQ(e.simplify(joined.floorDiv(8)), i);
  EXPECT_EQ(e.simplify(joined % 8), j);
  // i < 7, so that a remainder by seven of it is it.
  EXPECT_EQ(e.simplify(i % 7), i);
  EXPECT_EQ(e.simplify(i.floorDiv(7)), number(0));
  EXPECT_EQ(e.simplify((joined * 3 + k).floorDiv(24)), i);
}

TEST_F(IndexArithmetic, whatRangesDoNotDecideStays) {
  EXPECT_EQ(e.simplify(i % 6), i % 6);
  AffineExpr joined = i * 7 + j; // j may be 7
  EXPECT_NE(e.simplify(joined.floorDiv(7)), i);
  EXPECT_NE(e.simplify((i - 1).floorDiv(7)), number(0));
}

TEST_F(IndexArithmetic, sizesThatAreOpen) {
  AffineExpr joined = i * size + open;
  EXPECT_EQ(e.simplify(joined.floorDiv(size)), i);
  EXPECT_EQ(e.simplify(joined % size), open);
  EXPECT_NE(e.simplify(joined % otherSize), open);
}

TEST_F(IndexArithmetic, oneSizeIsOneSymbol) {
  Value tensor = module->lookupSymbol<func::FuncOp>("f").getArgument(0);
  EXPECT_EQ(e.getSize(tensor, 0), size);
  EXPECT_NE(e.getSize(tensor, 1), size);
  EXPECT_EQ(e.simplify(size * 2 - size - size), number(0));
}

TEST_F(IndexArithmetic, withinBounds) {
  EXPECT_TRUE(e.isWithin(i, number(0), number(7)));
  EXPECT_FALSE(e.isWithin(i, number(0), number(6)));
  EXPECT_FALSE(e.isWithin(i, number(1), number(7)));
  EXPECT_TRUE(e.isWithin(i * 8 + j, number(0), number(56)));
  EXPECT_TRUE(e.isWithin(open, number(0), size));
  EXPECT_FALSE(e.isWithin(open, number(0), otherSize));
  // A size is at least one.
  EXPECT_TRUE(e.isWithin(size, number(1), AffineExpr()));
  EXPECT_FALSE(e.isWithin(size, number(2), AffineExpr()));
}

TEST_F(IndexArithmetic, bounds) {
  EXPECT_EQ(e.getBounds(i - j), Bounds(-7, 6));
  EXPECT_EQ(e.getBounds(i * -2 + 1), Bounds(-11, 1));
  EXPECT_EQ(e.getBounds(number(5)), Bounds(5, 5));
  EXPECT_EQ(e.getBounds(open).first, 0);
  EXPECT_EQ(e.getBounds(open).second, std::nullopt);
}

TEST_F(IndexArithmetic, factorsOfPlaces) {
  EXPECT_EQ(e.getFactor(i * 8 + j, dimOf(i)), 8);
  EXPECT_EQ(e.getFactor(j - i, dimOf(i)), -1);
  EXPECT_EQ(e.getFactor(j + 3, dimOf(i)), 0);
  EXPECT_EQ(e.getFactor(i.floorDiv(2), dimOf(i)), std::nullopt);
}

TEST_F(IndexArithmetic, indexExpressionsAreSimplified) {
  EXPECT_EQ(e.index((i * 8 + j).floorDiv(8)), e.index(i));
  EXPECT_EQ(e.index(i - i + 4)->getNumber(), 4);
  EXPECT_TRUE(e.index(i - i + 4)->isConstant());
}

TEST_F(IndexArithmetic, tablesThatCount) {
  auto table = [&](ArrayRef<int64_t> shape, ArrayRef<int64_t> numbers) {
    return DenseElementsAttr::get(RankedTensorType::get(shape, IntegerType::get(&context, 64)),
                                  numbers);
  };
  std::optional<Progression> found = getProgression(table({2, 3}, {5, 7, 9, 15, 17, 19}));
  ASSERT_TRUE(found);
  EXPECT_EQ(found->first, 5);
  EXPECT_EQ(found->steps, (SmallVector<int64_t>{10, 2}));
  EXPECT_FALSE(getProgression(table({2, 3}, {5, 7, 9, 15, 17, 18})));
}

} // namespace
