// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "passes/Raise/Attention/PlaceRules.h"
#include <gtest/gtest.h>

using namespace mlir;
using namespace mlir::fovea::raise;

namespace {

PlaceTable makeTable(int64_t rows, int64_t columns,
                     llvm::function_ref<bool(int64_t, int64_t)> allows) {
  PlaceTable table{rows, columns, {}};
  for (int64_t i = 0; i < rows; ++i)
    for (int64_t j = 0; j < columns; ++j)
      table.allowed.push_back(allows(i, j));
  return table;
}

/// The formula that is found, if it says what the table says.
std::optional<PlaceFormula> find(llvm::function_ref<bool(int64_t, int64_t)> allows) {
  PlaceTable table = makeTable(12, 12, allows);
  std::optional<PlaceFormula> formula = findFormula(table, /*hasRows=*/true);
  if (formula)
    for (int64_t i = 0; i < table.rows; ++i)
      for (int64_t j = 0; j < table.columns; ++j)
        EXPECT_EQ(formula->holds(i, j), table.at(i, j)) << i << ", " << j;
  return formula;
}

TEST(PlaceRules, triangle) {
  std::optional<PlaceFormula> found = find([](int64_t i, int64_t j) { return j <= i; });
  ASSERT_TRUE(found);
  EXPECT_EQ(found->outer.most, 0);
  EXPECT_FALSE(found->outer.least);
  EXPECT_FALSE(found->outer.block);
  EXPECT_TRUE(found->terms.empty());
}

TEST(PlaceRules, slidingWindow) {
  std::optional<PlaceFormula> found =
      find([](int64_t i, int64_t j) { return j <= i && j >= i - 3; });
  ASSERT_TRUE(found);
  EXPECT_EQ(found->outer.most, 0);
  EXPECT_EQ(found->outer.least, -3);
}

TEST(PlaceRules, blocks) {
  std::optional<PlaceFormula> found = find([](int64_t i, int64_t j) { return i / 4 == j / 4; });
  ASSERT_TRUE(found);
  EXPECT_EQ(found->outer.block, 4);
}

TEST(PlaceRules, whatNoFormulaSays) {
  EXPECT_FALSE(find([](int64_t i, int64_t j) { return (i * 7 + j * 5) % 11 < 6; }));
}

} // namespace
