// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Vectors between memory, registers and shared memory: that they are as wide as alignment allows,
// and that nothing is moved that is outside.
#include "test/threads/DeviceCode.h"
#include <gtest/gtest.h>

using namespace mlir;
using namespace mlir::fovea;

namespace {

struct Move {
  const char *name, *type;
  /// A row of memory has so many elements, of which a tile has `n` from a multiple of `n` on.
  int64_t columns, n;
  /// Of shared memory, in elements.
  int64_t rowStride, columnStride;
  /// The digits of a tile's columns.
  const char *digits;
  /// What the PTX has, and what it has not.
  std::vector<const char *> has, hasNot;
  /// The view has rows and columns exchanged, and ends after `length` of memory's columns.
  int64_t length = 0;
  bool asynchronous = false;
};

constexpr const char *kPairs = "registers 2, threads 4 by 1, registers 4";
constexpr const char *kFours = "registers 4, threads 8 by 1";

const Move kMoves[] = {
    {"f32",
     "f32",
     72,
     32,
     36,
     1,
     kFours,
     {"ld.global.v4", "st.global.v4", "st.shared.v4", "ld.shared.v4"},
     {"ld.global.b32"}},
    {"bf16",
     "bf16",
     72,
     32,
     40,
     1,
     kFours,
     {"ld.global.v4.b32", "ld.global.v4.b16", "st.shared.v4.b32", "st.shared.v4.b16",
      "ld.shared.v2"},
     {"ld.global.b16"}},
    {"f64", "f64", 38, 32, 34, 1, kFours, {"ld.global.v2", "st.shared.v2"}, {"ld.global.b64"}},
    {"pairs_of_f32", "f32", 72, 32, 36, 1, kPairs, {"ld.global.v2", "st.shared.v2"}, {}},
    {"pairs_of_bf16",
     "bf16",
     72,
     32,
     40,
     1,
     kPairs,
     {"ld.global.v2.b16", "st.shared.v2.b16"},
     {"ld.global.b16"}},
    // Two rows are 8 bytes more than 16 apart.
    {"rows_of_70",
     "f32",
     70,
     32,
     34,
     1,
     kFours,
     {"ld.global.v2", "st.shared.v2"},
     {"ld.global.v4", "st.shared.v4"}},
    {"odd", "f32", 71, 32, 35, 1, kFours, {}, {"ld.global.v", "st.shared.v", "ld.shared.v"}},
    {"odd_rows_of_shared_memory",
     "f32",
     72,
     32,
     33,
     1,
     kFours,
     {"st.global.v4"},
     {"st.shared.v2", "st.shared.v4"}},
    {"columns_of_shared_memory", "f32", 72, 32, 1, 20, kFours, {"ld.global.v4"}, {"st.shared.v"}},
    {"begins_anywhere",
     "f32",
     72,
     30,
     36,
     1,
     "registers 2, threads 16 by 1",
     {"ld.global.v2"},
     {"ld.global.v4"}},
    // Rows of the tile are memory's columns.
    {"turned", "f32", 72, 16, 1, 20, kFours, {"ld.global.v4", "st.shared.v4"}, {}, 72},
    {"cut", "f32", 72, 16, 1, 20, kFours, {"ld.global.v4"}, {}, 61},
    {"async_f32",
     "f32",
     72,
     32,
     36,
     1,
     kFours,
     {"cp.async.cg.shared.global"},
     {"cp.async.ca"},
     0,
     true},
    {"async_bf16", "bf16", 72, 32, 40, 1, kFours, {"cp.async.cg.shared.global"}, {}, 0, true},
    {"async_8_bytes",
     "bf16",
     68,
     32,
     36,
     1,
     kFours,
     {"cp.async.ca.shared.global"},
     {"cp.async.cg"},
     0,
     true},
    {"async_4_bytes",
     "bf16",
     70,
     32,
     34,
     1,
     kFours,
     {"cp.async.ca.shared.global"},
     {"cp.async.cg"},
     0,
     true},
    {"async_elements",
     "f32",
     72,
     32,
     1,
     20,
     kFours,
     {"cp.async.ca.shared.global"},
     {"cp.async.cg"},
     0,
     true},
    {"not_async", "bf16", 71, 32, 35, 1, kFours, {}, {"cp.async.ca", "cp.async.cg"}, 0, true},
    {"async_cut",
     "f32",
     72,
     16,
     1,
     20,
     kFours,
     {"cp.async.cg.shared.global", "cp.async.ca.shared.global"},
     {},
     61,
     true},
};

class Moves : public testing::TestWithParam<Move> {};

/// y = what load, put and get give of x, and below it what copy and get give.
TEST_P(Moves, Agree) {
  const Move &move = GetParam();
  auto number = [](int64_t n) { return std::to_string(n); };
  bool turned = move.length != 0;
  int64_t m = 16, n = move.n, rows = 21; // of the tile; of memory
  // The axis along which blocks go on: columns, or turned rows.
  int64_t step = turned ? m : n, end = turned ? move.length : move.columns;
  int64_t blocks = (end + step - 1) / step;
  std::string text = fill(
      R"mlir(
func.func private @kernel(%x: memref<?x$Cx$F>, %length: index, %y: memref<?x$Nx$F>, %part: index, %parts: index) attributes {fovea.threads = 64 : i32} {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %m = arith.constant $M : index
  %step = arith.constant $STEP : index
  %blocks = arith.constant $BLOCKS : index
  %xv = tile.view %x axes($AXES) : memref<?x$Cx$F> -> $V
  %yv = tile.view %y axes(0, 1) : memref<?x$Nx$F> -> !tile.view<?x$Nx$F>
  tile.kernel grid(%b) = (%blocks) {
    %p = tile.shared at(0) : $S
    %q = tile.shared at(8192) : $S
    %j = arith.muli %b, %step : index
    %t = tile.load %xv[$LOAD] : $V -> $T
    tile.local_store %t to %p : $T, $S
    tile.copy %xv[$COPY] to %q $ASYNC : $V, $S
    tile.async_commit
    tile.async_wait pending(0)
    tile.barrier
    %u = tile.local_load %p : $S -> $T
    %v = tile.local_load %q : $S -> $T
    %both = arith.muli %b, %m : index
    %upper = arith.addi %both, %both : index
    %lower = arith.addi %upper, %m : index
    tile.store %u, %yv[%upper, %c0] : $T, !tile.view<?x$Nx$F>
    tile.store %v, %yv[%lower, %c0] : $T, !tile.view<?x$Nx$F>
  }
  return
})mlir",
      {{"C", number(move.columns)},
       {"N", number(n)},
       {"M", number(m)},
       {"F", move.type},
       {"STEP", number(step)},
       {"BLOCKS", number(blocks)},
       {"AXES", turned ? "1, 0) length(%length" : "0, 1"},
       {"V", turned ? "!tile.view<?x?x$F>" : "!tile.view<?x$Cx$F>"},
       {"LOAD", turned ? "%j, %c0" : "%c0, %j"},
       {"COPY", turned ? "%j, %c1" : "%c1, %j"},
       {"ASYNC", move.asynchronous ? "async" : ""},
       {"S", "!tile.shared<$Mx$Nx$F, strides [" + number(move.rowStride) + ", " +
                 number(move.columnStride) + "]>"},
       {"T", "!tile.tile<$Mx$Nx$F, $L>"},
       {"L", turned
                 ? "#tile.layout<rows = [registers 4, threads 4 by 1], columns = [threads 16 by 4]>"
                 : "#tile.layout<rows = [threads 4 by 16, registers 4], columns = [" +
                       std::string(move.digits) + "]>"}});
  auto code = DeviceCode::make(text);
  ASSERT_TRUE(code) << text;
  checkAssembles(*code);
  for (const char *word : move.has)
    EXPECT_NE(code->ptx.find(word), std::string::npos) << word << code->ptx;
  for (const char *word : move.hasNot)
    EXPECT_EQ(code->ptx.find(word), std::string::npos) << word << code->ptx;

  Array x = makeNumbers(move.type, {rows, move.columns}, 1);
  Array y = makeNumbers(move.type, {2 * m * blocks, n}, 2);
  TileCall call{{x, makeIndex(move.length), y}, {x, makeIndex(move.length), y}};
  for (int64_t block = 0; block < blocks; ++block)
    for (int64_t lower : {0, 1})
      for (int64_t r = 0; r < m; ++r)
        for (int64_t c = 0; c < n; ++c) {
          int64_t row = turned ? c + lower : r + lower;
          int64_t column = block * step + (turned ? r : c);
          call.after.back().at((2 * block + lower) * m + r, c) =
              row < rows && column < end ? x.at(row, column) : 0;
        }
  checkCall(*code, call, 0, static_cast<uint64_t>(blocks));
}

INSTANTIATE_TEST_SUITE_P(All, Moves, testing::ValuesIn(kMoves),
                         [](const testing::TestParamInfo<Move> &info) {
                           return std::string(info.param.name);
                         });

} // namespace
