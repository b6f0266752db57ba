// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Rows of caches that are chosen anew: each becomes what the row that is named was.
#include "runtime/Context.h"
#include "runtime/status/Status.h"
#include "test/unit/runtime/RuntimeTest.h"

#include <random>

using namespace fovea;
using namespace fovea::test;

namespace {

class RowsTest : public RuntimeTest {
protected:
  void SetUp() override {
    RuntimeTest::SetUp();
    owner = context(1, capacity);
    for (const auto &entry : owner->context.module().manifest().entries)
      for (const auto &argument : entry->arguments)
        if (argument->kind == manifest::ValueKind::Cache)
          value = argument.get();
    ASSERT_TRUE(value);
  }

  Cache &cache() { return owner->context.cache(*value); }
  float *at(int64_t row, int64_t head, int64_t position) {
    Cache &held = cache();
    return static_cast<float *>(held.memory->address()) +
           ((row * held.heads + head) * capacity + position) * held.size;
  }

  /// Row r holds a number of its own at each place.
  void fill(int64_t rows, int64_t length) {
    owner->context.reset();
    owner->context.prepare(cache(), rows);
    cache().length = length;
    ASSERT_EQ(cache().elementBytes, sizeof(float));
    each(rows, length, [](float &element, int64_t row, int64_t place) {
      element = static_cast<float>(1000 * row + place);
    });
  }

  template <typename Visit> void each(int64_t rows, int64_t length, const Visit &visit) {
    for (int64_t row = 0; row < rows; ++row)
      for (int64_t head = 0; head < cache().heads; ++head)
        for (int64_t position = 0; position < length; ++position)
          for (int64_t i = 0; i < cache().size; ++i)
            visit(at(row, head, position)[i], row, (head * length + position) * cache().size + i);
  }

  void expectRows(const std::vector<int64_t> &rows, int64_t length) {
    EXPECT_EQ(cache().batch, static_cast<int64_t>(rows.size()));
    EXPECT_EQ(cache().length, length);
    each(cache().batch, length, [&](float &element, int64_t row, int64_t place) {
      ASSERT_EQ(element, static_cast<float>(1000 * rows[row] + place)) << "row " << row;
    });
  }

  static constexpr int64_t capacity = 9;
  ContextPtr owner;
  const manifest::ValueT *value = nullptr;
};

TEST_F(RowsTest, RowsChangePlaces) {
  const std::vector<std::vector<int64_t>> choices = {{0, 1, 2, 3}, {1, 0, 2, 3}, {1, 2, 3, 0},
                                                     {1, 0, 3, 2}, {0, 0, 0, 0}, {3, 3, 1, 1},
                                                     {1, 2, 0, 0}, {2, 2, 3, 2}};
  for (const std::vector<int64_t> &rows : choices) {
    fill(4, 5);
    owner->context.selectRows({value}, rows);
    expectRows(rows, 5);
  }
}

TEST_F(RowsTest, AnyChoiceOfRows) {
  std::mt19937 random(1);
  for (int i = 0; i < 300; ++i) {
    std::vector<int64_t> rows(6);
    for (int64_t &row : rows)
      row = static_cast<int64_t>(random() % rows.size());
    fill(6, 1 + static_cast<int64_t>(random() % capacity));
    int64_t length = cache().length;
    owner->context.selectRows({value}, rows);
    expectRows(rows, length);
  }
}

TEST_F(RowsTest, MoreAndFewerRows) {
  for (const std::vector<int64_t> &rows :
       {std::vector<int64_t>{0, 0, 0, 1, 1, 1}, {1}, {2, 0, 1, 2}}) {
    fill(3, 4);
    owner->context.selectRows({value}, rows);
    expectRows(rows, 4);
  }
}

TEST_F(RowsTest, OfAnEmptyCacheThereIsNothing) {
  owner->context.prepare(cache(), 2);
  owner->context.selectRows({value}, {1, 0});
  EXPECT_EQ(cache().length, 0);
}

TEST_F(RowsTest, RowsThatAreNotThereAreRefused) {
  fill(2, 3);
  EXPECT_THROW(owner->context.selectRows({value}, {0, 2}), Failure);
  EXPECT_THROW(owner->context.selectRows({value}, {-1, 0}), Failure);
}

} // namespace
