// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// What `verify` calls a difference where the source rounds or overflows by itself, and how much of
// a long list it prints.
#include "tools/verify/Verify.h"
#include "tools/verify/Cases.h"
#include "tools/verify/Compare.h"

#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Parser/Parser.h"
#include <cmath>
#include <gtest/gtest.h>
#include <limits>

using namespace mlir;
using namespace mlir::fovea;
using namespace mlir::fovea::verify;
using interpreter::Tensor;

static constexpr double kInfinity = std::numeric_limits<double>::infinity();
static constexpr double kNan = std::numeric_limits<double>::quiet_NaN();

static Tensor reals(std::initializer_list<double> elements, int64_t rows = 1) {
  Tensor tensor;
  tensor.shape = {rows, static_cast<int64_t>(elements.size()) / rows};
  tensor.reals = elements;
  return tensor;
}

static double error(const Tensor &found, const Tensor &exact, const Tensor &literal) {
  return judge(found, exact, literal, Norm::Whole).error;
}

TEST(Judge, AllowsThreeTimesTheSourcesOwnErrorInItsRow) {
  Tensor exact = reals({1, 4, 1, 4}, 2), literal = reals({1.5, 4, 1, 4}, 2);
  EXPECT_EQ(error(reals({1, 5.5, 1, 4}, 2), exact, literal), 0);
  EXPECT_DOUBLE_EQ(error(reals({1, 5.6, 1, 4}, 2), exact, literal), 0.4);
  EXPECT_EQ(error(reals({1, 4, 1, 5}, 2), exact, literal), 0.25);
}

TEST(Judge, TakesAnOverflowOfTheSourcesOwn) {
  Tensor exact = reals({1, 2}), literal = reals({kInfinity, 2});
  EXPECT_EQ(error(reals({1, 2}), exact, literal), 0);
  EXPECT_EQ(error(reals({kNan, 2}), exact, literal), 0);
  EXPECT_EQ(error(reals({0, 2}), exact, literal), 0); // another rounding may not have overflowed
  EXPECT_EQ(error(reals({1, 3}), exact, literal), 0.5);
  EXPECT_EQ(error(reals({1, kNan}), exact, literal), kInfinity);
}

TEST(Judge, WhatIsNotFiniteMustNotBeSo) {
  Tensor exact = reals({kInfinity, 2});
  EXPECT_EQ(error(reals({kNan, 2}), exact, exact), 0);
  EXPECT_EQ(error(reals({1, 2}), exact, exact), kInfinity);
  EXPECT_EQ(judge(reals({1, 2}), exact, exact, Norm::Whole, /*mayOverflow=*/true).error, 0);
  EXPECT_EQ(judge(reals({1, 3}), exact, exact, Norm::Whole, /*mayOverflow=*/true).error, 0.5);
  EXPECT_EQ(error(reals({1, 2}), exact, reals({1, 2})), 0);
  EXPECT_EQ(error(reals({2, 2}), exact, reals({1, 2})), 0.5);
}

TEST(Judge, OfIntegersEitherWillDo) {
  Tensor exact, literal, found;
  for (Tensor *one : {&exact, &literal, &found}) {
    one->isReal = false;
    one->shape = {2};
  }
  exact.integers = {1, 5};
  literal.integers = {2, 5};
  for (int64_t right : {1, 2}) {
    found.integers = {right, 5};
    EXPECT_EQ(error(found, exact, literal), 0);
  }
  found.integers = {3, 5};
  EXPECT_EQ(error(found, exact, literal), kInfinity);
  found.integers = {1, 6};
  EXPECT_EQ(error(found, exact, literal), kInfinity);
}

TEST(Report, ListsTwentyBranches) {
  Report report;
  report.isComplete = true;
  for (int i = 0; i < 23; ++i)
    report.branches.unreached.push_back({"arith.select", "at " + std::to_string(i), "true", 1});
  std::string table, json;
  llvm::raw_string_ostream os(table), jsonOs(json);
  printTable(os, report);
  printJson(jsonOs, report);
  EXPECT_NE(table.find("at 19 (true)\nand 3 more; --json lists all\n"), std::string::npos) << table;
  EXPECT_EQ(table.find("at 20"), std::string::npos) << table;
  EXPECT_NE(json.find("\"at 22\""), std::string::npos);
}

TEST(Report, DoesNotSayThatAllAgreesWhereSomethingFailed) {
  Report report;
  report.rows.emplace_back();
  std::string table;
  llvm::raw_string_ostream os(table);
  printTable(os, report);
  EXPECT_NE(table.find("1 outputs agree; what comes behind them could not be run"),
            std::string::npos)
      << table;
}

static OwningOpRef<ModuleOp> parse(MLIRContext &context, const std::string &body) {
  context.loadDialect<arith::ArithDialect, func::FuncDialect>();
  return parseSourceString<ModuleOp>("func.func @f(%x: f32) -> f32 {" + body + " return %y : f32 }",
                                     &context);
}

/// The constants of a module after its masks were widened; empty if it has none.
static std::vector<double> widened(const std::string &body) {
  MLIRContext context;
  OwningOpRef<ModuleOp> module = parse(context, body), wide = widenMasks(*module);
  std::vector<double> numbers;
  if (wide)
    wide->walk([&](arith::ConstantOp op) {
      numbers.push_back(cast<FloatAttr>(op.getValue()).getValueAsDouble());
    });
  return numbers;
}

TEST(WidenMasks, MovesWhatMeansNever) {
  std::string add = " %y = arith.addf %x, %c : f32", multiply = " %y = arith.mulf %x, %c : f32";
  EXPECT_EQ(widened("%c = arith.constant -1.0e4 : f32" + add), std::vector<double>{-1e10});
  EXPECT_EQ(widened("%c = arith.constant 1.0e4 : f32" + multiply), std::vector<double>{1e10});
  EXPECT_TRUE(widened("%c = arith.constant 1.0e4 : f32" + add).empty());
  EXPECT_TRUE(widened("%c = arith.constant -4000.0 : f32" + add).empty());
  EXPECT_TRUE(widened("%c = arith.constant 0xFF800000 : f32" + add).empty());
}
