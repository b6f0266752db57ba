// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Tile ops with layouts of every kind: blocked, padded, with copies, with digits that are no powers
// of two, across warps. The expected values are C++ in f64.
#include "test/threads/DeviceCode.h"
#include <cmath>
#include <functional>
#include <gtest/gtest.h>

using namespace mlir;
using namespace mlir::fovea;

namespace {

using Words = std::vector<std::pair<std::string, std::string>>;

std::string number(int64_t n) { return std::to_string(n); }

/// A kernel of one function; the body may use %c0, %c1, %zero.
std::string makeKernel(const std::string &arguments, const std::string &body, Words words,
                       int64_t threads = 128) {
  words.insert(words.end(),
               {{"ARGUMENTS", arguments}, {"BODY", body}, {"THREADS", number(threads)}});
  return fill(R"mlir(
func.func private @kernel($ARGUMENTS, %part: index, %parts: index) attributes {fovea.threads = $THREADS : i32} {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %zero = arith.constant 0.0 : f32
$BODY
  return
}
)mlir",
              words);
}

void check(const std::string &text, std::vector<Array> arguments,
           const std::function<void(Array &)> &reference, double tolerance = 0,
           uint64_t blocks = 3) {
  auto code = DeviceCode::make(text);
  ASSERT_TRUE(code) << text;
  checkAssembles(*code);
  TileCall call{arguments, std::move(arguments)};
  reference(call.after.back());
  checkCall(*code, call, tolerance, blocks);
}

/// A layout for tiles of a shape, and the same without the digits of an axis.
struct Layout {
  const char *name, *rows, *columns;
  int64_t rowPlaces, columnPlaces;       ///< at most
  int64_t rowCount = 1, columnCount = 1; ///< registers along the axes
  int64_t threads = 128;
  bool rowsAcross = false, columnsAcross = false; ///< warps
  std::string text() const {
    return std::string("#tile.layout<rows = [") + rows + "], columns = [" + columns + "]>";
  }
  std::string without(int axis) const {
    return std::string("#tile.layout<rows = [") + (axis == 0 ? "" : rows) + "], columns = [" +
           (axis == 1 ? "" : columns) + "]>";
  }
};

const Layout kLayouts[] = {
    {"blocked", "threads 8 by 16, registers 8", "registers 4, threads 16 by 1", 64, 64, 8, 4, 128,
     true, false},
    {"sums_of_mma", "threads 8 by 4, registers 2, threads 4 by 32",
     "registers 2, threads 4 by 1, registers 8", 64, 64, 2, 16, 128, true, false},
    {"row_of_threads", "registers 4", "threads 128 by 1", 4, 128, 4, 1, 128, false, true},
    {"column_of_threads", "threads 64 by 2", "registers 8, threads 2 by 1, registers 3", 64, 48, 1,
     24, 128, true, false},
    {"copies", "threads 4 by 8", "registers 2, threads 8 by 1, registers 2", 4, 32, 1, 4, 128},
    {"no_powers", "threads 3 by 10, registers 2", "registers 3, threads 10 by 1", 6, 30, 2, 3, 96,
     true, true},
    {"one_warp", "registers 5", "threads 16 by 2, registers 3", 5, 48, 5, 3, 32},
    {"alone", "registers 3", "registers 7", 3, 7, 3, 7, 64},
};

class OnLayouts : public testing::TestWithParam<Layout> {
public:
  static std::string name(const testing::TestParamInfo<Layout> &info) { return info.param.name; }
  /// Shapes that fill the layout, and that leave places out on both axes.
  static std::vector<std::pair<int64_t, int64_t>> shapes(const Layout &layout) {
    return {{layout.rowPlaces, layout.columnPlaces},
            {std::max<int64_t>(layout.rowPlaces - 2, 2),
             std::max<int64_t>(layout.columnPlaces - 5, 2)}};
  }
};

/// Blocks that reach over the view's ends load, compute and store: y[i, j] = 2 x[i, j] + i - 3 j.
TEST_P(OnLayouts, LoadMapStore) {
  const Layout &layout = GetParam();
  for (auto [m, n] : shapes(layout)) {
    int64_t rows = 2 * m - 1, columns = n + 3;
    check(
        makeKernel("%x: memref<?x$Cxf32>, %y: memref<?x$Cxf32>", R"mlir(
  %two = arith.constant 2.0 : f32
  %tm = arith.constant $M : index
  %tn = arith.constant $N : index
  %rows = memref.dim %x, %c0 : memref<?x$Cxf32>
  %cols = arith.constant $C : index
  %bm = arith.ceildivui %rows, %tm : index
  %bn = arith.ceildivui %cols, %tn : index
  %xv = tile.view %x axes(0, 1) : memref<?x$Cxf32> -> !tile.view<?x$Cxf32>
  %yv = tile.view %y axes(0, 1) : memref<?x$Cxf32> -> !tile.view<?x$Cxf32>
  tile.kernel grid(%bi, %bj) = (%bm, %bn) {
    %i = arith.muli %bi, %tm : index
    %j = arith.muli %bj, %tn : index
    %t = tile.load %xv[%i, %j] : !tile.view<?x$Cxf32> -> $T
    %r = tile.iota axis(0) from %i : $I
    %c = tile.iota axis(1) from %j : $I
    %s = tile.splat %two : $T
    %u = tile.map(%a = %t, %b = %r, %d = %c, %e = %s) : ($T, $I, $I, $T) -> $T {
      %three = arith.constant 3 : i32
      %0 = arith.mulf %a, %e : f32
      %1 = arith.muli %d, %three : i32
      %2 = arith.subi %b, %1 : i32
      %3 = arith.sitofp %2 : i32 to f32
      %4 = arith.addf %0, %3 : f32
      tile.yield %4 : f32
    }
    tile.store %u, %yv[%i, %j] : $T, !tile.view<?x$Cxf32>
  })mlir",
                   {{"M", number(m)},
                    {"N", number(n)},
                    {"C", number(columns)},
                    {"T", "!tile.tile<$Mx$Nxf32, $L>"},
                    {"I", "!tile.tile<$Mx$Nxi32, $L>"},
                    {"L", layout.text()}},
                   layout.threads),
        {makeNumbers("f32", {rows, columns}, 1), makeNumbers("f32", {rows, columns}, 2)},
        [&, x = makeNumbers("f32", {rows, columns}, 1)](Array &y) {
          for (int64_t r = 0; r < rows; ++r)
            for (int64_t c = 0; c < columns; ++c)
              y.at(r, c) = 2 * x.at(r, c) + r - 3 * c;
        },
        0, 8);
  }
}

/// y = x - reduced(x) for both axes and kinds; numbers have few bits, so sums are exact.
TEST_P(OnLayouts, ReduceBroadcast) {
  const Layout &layout = GetParam();
  for (auto [m, n] : shapes(layout))
    for (int axis : {0, 1})
      for (bool maximum : {false, true})
        for (const char *type : {"f32", "f64"}) {
          int64_t rows = m, columns = n;
          SCOPED_TRACE(number(rows) + "x" + number(columns) + " axis " + number(axis) +
                       (maximum ? " maximum " : " sum ") + type);
          bool across = axis == 0 ? layout.rowsAcross : layout.columnsAcross;
          int64_t registers = axis == 0 ? layout.columnCount : layout.rowCount;
          Array x = makeReduced(type, rows, columns, 5, maximum);
          check(
              makeKernel("%x: memref<$Mx$Nx$F>, %y: memref<$Mx$Nx$F>", R"mlir(
  %xv = tile.view %x axes(0, 1) : memref<$Mx$Nx$F> -> !tile.view<$Mx$Nx$F>
  %yv = tile.view %y axes(0, 1) : memref<$Mx$Nx$F> -> !tile.view<$Mx$Nx$F>
  tile.kernel grid(%b) = (%c1) {
    $SCRATCH
    %t = tile.load %xv[%c0, %c0] : !tile.view<$Mx$Nx$F> -> $T
    %r = tile.reduce $KIND %t axis($AXIS) $WITH : $T -> $R
    %s = tile.broadcast %r : $R -> $T
    %d = tile.map(%u = %t, %v = %s) : ($T, $T) -> $T {
      %0 = arith.subf %u, %v : $F
      tile.yield %0 : $F
    }
    tile.store %d, %yv[%c0, %c0] : $T, !tile.view<$Mx$Nx$F>
  })mlir",
                         {{"M", number(m)},
                          {"N", number(n)},
                          {"F", type},
                          {"AXIS", number(axis)},
                          {"KIND", maximum ? "maximum" : "sum"},
                          {"T", "!tile.tile<$Mx$Nx$F, $L>"},
                          {"R", axis ? "!tile.tile<$Mx1x$F, $K>" : "!tile.tile<1x$Nx$F, $K>"},
                          {"SCRATCH", across ? "%m = tile.shared at(64) : $S" : ""},
                          {"WITH", across ? "scratch(%m : $S)" : ""},
                          {"S", "!tile.shared<" + number(layout.threads) + "x" + number(registers) +
                                    "x$F>"},
                          {"L", layout.text()},
                          {"K", layout.without(axis)}},
                         layout.threads),
              {x, makeNumbers(type, {rows, columns}, 6)},
              [&](Array &y) {
                for (int64_t r = 0; r < rows; ++r)
                  for (int64_t c = 0; c < columns; ++c)
                    y.at(r, c) = x.at(r, c) - reduce(x, axis, maximum, axis ? r : c);
              },
              0, 1);
        }
}

/// Through shared memory and back, transposed by strides; narrow types are carried as they are.
TEST_P(OnLayouts, PutGetCopy) {
  const Layout &layout = GetParam();
  // One thread's many neighbours LLVM reads as whole vectors, the last past what was written.
  if (layout.name == std::string("alone"))
    GTEST_SKIP() << "the emulator reports what is read and not used";
  for (auto [m, n] : shapes(layout))
    for (const char *type : {"f32", "bf16", "f64", "i32"}) {
      SCOPED_TRACE(number(m) + "x" + number(n) + " " + type);
      int64_t rows = m + 1, columns = n + 2;
      // y[0..m) = x[0..m) by put and get, y[m..2m) = x[1.., 3..] by copy and get, zero outside.
      Array x = makeNumbers(type, {rows, columns}, 1);
      if (std::string(type) == "i32")
        for (double &value : x.values)
          value = std::round(value * 100);
      check(
          makeKernel(
              "%x: memref<?x?x$F>, %y: memref<?x$Nx$F>", R"mlir(
  %m = arith.constant $M : index
  %three = arith.constant 3 : index
  %xv = tile.view %x axes(0, 1) : memref<?x?x$F> -> !tile.view<?x?x$F>
  %yv = tile.view %y axes(0, 1) : memref<?x$Nx$F> -> !tile.view<?x$Nx$F>
  tile.kernel grid(%b) = (%c1) {
    %p = tile.shared at(0) : $P
    %q = tile.shared at($AT) : $Q
    %t = tile.load %xv[%c0, %c0] : !tile.view<?x?x$F> -> $T
    tile.local_store %t to %p : $T, $P
    tile.copy %xv[%c1, %three] to %q : !tile.view<?x?x$F>, $Q
    tile.barrier
    %u = tile.local_load %p : $P -> $T
    %v = tile.local_load %q : $Q -> $T
    tile.store %u, %yv[%c0, %c0] : $T, !tile.view<?x$Nx$F>
    tile.store %v, %yv[%m, %c0] : $T, !tile.view<?x$Nx$F>
  })mlir",
              {{"M", number(m)},
               {"N", number(n)},
               {"F", type},
               {"T", "!tile.tile<$Mx$Nx$F, $L>"},
               {"P", "!tile.shared<$Mx$Nx$F, strides [1, " + number(m % 4 ? m : m + 4) + "]>"},
               {"Q", "!tile.shared<$Mx$Nx$F, strides [" + number(n % 4 ? n : n + 4) + ", 1]>"},
               {"AT", number((m + 4) * n * 8 / 16 * 16 + 16)},
               {"L", layout.text()}},
              layout.threads),
          {x, makeNumbers(type, {2 * m, n}, 2)},
          [&, m = m, n = n](Array &y) {
            for (int64_t r = 0; r < m; ++r)
              for (int64_t c = 0; c < n; ++c) {
                y.at(r, c) = x.at(r, c);
                y.at(m + r, c) = r + 1 < rows && c + 3 < columns ? x.at(r + 1, c + 3) : 0;
              }
          },
          0, 1);
    }
}

INSTANTIATE_TEST_SUITE_P(All, OnLayouts, testing::ValuesIn(kLayouts), OnLayouts::name);

//===-- Products -----------------------------------------------------------------------------===//

struct Product {
  const char *name;
  int64_t m, n, k, depth; ///< of the tile, and of the memory
  bool transposed;
  const char *aType, *bType, *sum;
  bool aInPlace, bInPlace;
  const char *bMemory = "rows"; ///< or panels, pairs, fours, eights
  const char *rows = "threads 8 by 16, registers 8", *columns = "registers 4, threads 16 by 1";
};

const Product kProducts[] = {
    {"shared", 64, 64, 32, 32, true, "f32", "f32", "f32", false, false},
    {"shared_plain", 64, 64, 32, 32, false, "f32", "f32", "f32", false, false},
    {"padded", 61, 50, 19, 19, true, "f32", "bf16", "f32", false, false},
    {"narrow", 64, 48, 24, 24, false, "f16", "bf16", "f32", false, false},
    {"wide", 32, 24, 8, 8, true, "f64", "f32", "f64", false, false},
    {"short_depth", 64, 64, 32, 29, true, "f32", "f32", "f32", true, true},
    {"in_place", 64, 64, 32, 32, false, "f32", "f32", "f32", true, true},
    {"one_row", 1, 128, 40, 40, true, "f32", "bf16", "f32", false, true, "pairs", "",
     "threads 128 by 1"},
    {"panels", 16, 48, 21, 21, true, "f32", "f32", "f32", true, true, "panels"},
    {"copied_pairs", 16, 64, 32, 40, true, "f32", "bf16", "f32", true, false, "pairs"},
    {"copied_panels", 16, 33, 21, 21, true, "f32", "f32", "f32", false, false, "panels"},
    {"one_row_of_fours", 1, 64, 21, 21, true, "f32", "f32", "f32", false, true, "fours", "",
     "threads 128 by 1"},
    {"one_row_of_eights", 1, 128, 40, 40, true, "bf16", "bf16", "f32", false, true, "eights", "",
     "threads 128 by 1"},
    {"one_row_ends", 1, 100, 40, 37, true, "f32", "f16", "f32", false, true, "eights", "",
     "threads 128 by 1"},
    {"rows_of_eights", 6, 96, 24, 19, true, "f32", "bf16", "f32", true, true, "eights",
     "registers 6", "threads 96 by 1"},
    {"copied_fours", 16, 64, 32, 30, true, "f32", "f32", "f32", true, false, "fours"},
    {"copied_eights", 16, 64, 32, 40, true, "f32", "bf16", "f32", true, false, "eights"},
    {"copied_eights_rest", 16, 64, 12, 40, true, "f32", "bf16", "f32", true, false, "eights"},
    {"copied_eights_end", 16, 64, 24, 21, true, "f32", "f16", "f32", true, false, "eights"},
    {"no_powers", 6, 30, 12, 12, true, "f32", "f32", "f32", false, true, "rows",
     "threads 3 by 10, registers 2", "registers 3, threads 10 by 1"},
};

class Products : public testing::TestWithParam<Product> {};

/// y = 1 + a b, where the last rows of a and the last outputs of b are outside of the tile's views.
TEST_P(Products, Agree) {
  const Product &p = GetParam();
  int64_t rows = std::max<int64_t>(p.m - 3, 1), outputs = p.n - 1;
  std::string bMemory = p.bMemory;
  Array a = makeNumbers(p.aType, {rows, p.depth}, 1), b, weights;
  weights = makeNumbers(p.bType,
                        p.transposed ? std::vector<int64_t>{outputs, p.depth}
                                     : std::vector<int64_t>{p.depth, outputs},
                        2);
  std::string bView = p.transposed
                          ? "!tile.view<" + number(outputs) + "x" + number(p.depth) + "x$G>"
                          : "!tile.view<" + number(p.depth) + "x" + number(outputs) + "x$G>";
  std::string bArgument, makeView;
  b = weights;
  if (bMemory == "rows") {
    bArgument = "memref<" + number(weights.shape[0]) + "x" + number(weights.shape[1]) + "x$G>";
    makeView = "tile.view %b axes(0, 1) : " + bArgument + " -> " + bView;
  } else {
    int64_t pair = bMemory == "pairs" ? 2 : bMemory == "fours" ? 4 : bMemory == "eights" ? 8 : 1;
    int64_t width = pair > 2 ? 32 : 16;
    int64_t panels = (outputs + width - 1) / width, pairs = (p.depth + pair - 1) / pair;
    b.shape = {panels, pairs, width};
    if (pair > 1)
      b.shape.push_back(pair);
    b.values.assign(panels * pairs * width * pair, 0);
    for (int64_t n = 0; n < outputs; ++n)
      for (int64_t k = 0; k < p.depth; ++k)
        b.values[((n / width * pairs + k / pair) * width + n % width) * pair + k % pair] =
            weights.at(n, k);
    bArgument = "memref<" + number(panels) + "x" + number(pairs) + "x" + number(width) + "x" +
                (pair > 1 ? number(pair) + "x$G>" : "$G>");
    makeView = "tile.packed %b : " + bArgument + " -> " + bView;
  }
  std::string shape = p.transposed ? "$Nx$K" : "$Kx$N";
  std::string stageA = p.aInPlace
                           ? "%at = tile.load %av[%c0, %c0] : !tile.view<?x$Dx$F> -> $A"
                           : "%at = tile.shared at(0) : $A\n    tile.copy %av[%c0, %c0] to %at : "
                             "!tile.view<?x$Dx$F>, $A";
  std::string stageB =
      p.bInPlace ? "%bt = tile.load %bv[%c0, %c0] : $V -> $B"
                 : "%bt = tile.shared at(65536) : $B\n    tile.copy %bv[%c0, %c0] to %bt : $V, $B";
  check(
      makeKernel(
          "%a: memref<?x$Dx$F>, %b: $W, %y: memref<?x$Ox$S>", R"mlir(
  %one = arith.constant 1.0 : $S
  %av = tile.view %a axes(0, 1) : memref<?x$Dx$F> -> !tile.view<?x$Dx$F>
  %bv = $VIEW
  %yv = tile.view %y axes(0, 1) : memref<?x$Ox$S> -> !tile.view<?x$Ox$S>
  tile.kernel grid(%i) = (%c1) {
    $STAGEA
    $STAGEB
    tile.barrier
    %acc = tile.splat %one : $T
    %s = tile.mma %at, %bt $TB into %acc : $A, $B -> $T
    tile.store %s, %yv[%c0, %c0] : $T, !tile.view<?x$Ox$S>
  })mlir",
          {{"STAGEA", stageA},
           {"STAGEB", stageB},
           {"VIEW", makeView},
           {"W", bArgument},
           {"V", bView},
           {"TB", p.transposed ? "transpose_b" : ""},
           {"A", p.aInPlace ? "!tile.tile<$Mx$Kx$F>"
                            : "!tile.shared<$Mx$Kx$F, strides [1, " + number(p.m + 4) + "]>"},
           {"B", p.bInPlace ? "!tile.tile<" + shape + "x$G>" : "!tile.shared<" + shape + "x$G>"},
           {"T", "!tile.tile<$Mx$Nx$S, $L>"},
           {"L",
            std::string("#tile.layout<rows = [") + p.rows + "], columns = [" + p.columns + "]>"},
           {"M", number(p.m)},
           {"N", number(p.n)},
           {"K", number(p.k)},
           {"D", number(p.depth)},
           {"O", number(outputs)},
           {"F", p.aType},
           {"G", p.bType},
           {"S", p.sum}}),
      {a, b, makeNumbers(p.sum, {rows, outputs}, 3)},
      [&](Array &y) {
        for (int64_t m = 0; m < rows; ++m)
          for (int64_t n = 0; n < outputs; ++n) {
            double sum = 1;
            for (int64_t k = 0; k < std::min(p.depth, p.k); ++k)
              sum += a.at(m, k) * (p.transposed ? weights.at(n, k) : weights.at(k, n));
            y.at(m, n) = sum;
          }
      },
      1e-6, 2);
}

INSTANTIATE_TEST_SUITE_P(All, Products, testing::ValuesIn(kProducts),
                         [](const testing::TestParamInfo<Product> &info) {
                           return std::string(info.param.name);
                         });

/// What lies outside of a view may be anything: its k are left out, though NaN stands opposite.
TEST(Tiles, DepthOutsideIsLeftOut) {
  Array a = makeNumbers("f32", {8, 20}, 1), b = makeNumbers("f32", {16, 20}, 2);
  for (int64_t m = 0; m < 8; ++m)
    for (int64_t k = 13; k < 20; ++k)
      a.at(m, k) = std::nan("");
  check(
      makeKernel("%a: memref<8x20xf32>, %b: memref<16x20xf32>, %n: index, %y: memref<8x16xf32>",
                 R"mlir(
  %bt = tile.view %b axes(1, 0) length(%n) : memref<16x20xf32> -> !tile.view<?x16xf32>
  %av = tile.view %a axes(0, 1) : memref<8x20xf32> -> !tile.view<8x20xf32>
  %yv = tile.view %y axes(0, 1) : memref<8x16xf32> -> !tile.view<8x16xf32>
  tile.kernel grid(%i) = (%c1) {
    %x = tile.load %av[%c0, %c0] : !tile.view<8x20xf32> -> !tile.tile<8x20xf32>
    %w = tile.load %bt[%c0, %c0] : !tile.view<?x16xf32> -> !tile.tile<20x16xf32>
    %acc = tile.splat %zero : $T
    %s = tile.mma %x, %w into %acc : !tile.tile<8x20xf32>, !tile.tile<20x16xf32> -> $T
    tile.store %s, %yv[%c0, %c0] : $T, !tile.view<8x16xf32>
  })mlir",
                 {{"T", "!tile.tile<8x16xf32, #tile.layout<rows = [threads 8 by 16], columns = "
                        "[threads 16 by 1]>>"}}),
      {a, b, makeIndex(13), makeNumbers("f32", {8, 16}, 3)},
      [&](Array &y) {
        for (int64_t m = 0; m < 8; ++m)
          for (int64_t n = 0; n < 16; ++n) {
            y.at(m, n) = 0;
            for (int64_t k = 0; k < 13; ++k)
              y.at(m, n) += a.at(m, k) * b.at(n, k);
          }
      },
      1e-6, 1);
}

//===-- Others -------------------------------------------------------------------------------===//

/// Rows of a table by numbers, of which some are outside.
TEST(Tiles, Gather) {
  for (const char *ids : {"i64", "i32"})
    for (const char *type : {"f32", "bf16"})
      for (int64_t n : {37, 16, 64}) {
        Array table = makeNumbers(type, {6, 37}, 1);
        Array rows{ids, {6, 1}, {-1, 6, 5, -2147483648.0, 4, 2147483647}};
        check(
            makeKernel(
                "%t: memref<6x37x$F>, %ids: memref<?x1x$I>, %y: memref<?x37x$F>", R"mlir(
  %c37 = arith.constant 37 : index
  %tn = arith.constant $N : index
  %c4 = arith.constant 4 : index
  %rows = memref.dim %ids, %c0 : memref<?x1x$I>
  %blocks = arith.ceildivui %rows, %c4 : index
  %panels = arith.ceildivui %c37, %tn : index
  %tv = tile.view %t axes(0, 1) : memref<6x37x$F> -> !tile.view<6x37x$F>
  %iv = tile.view %ids axes(0, 1) : memref<?x1x$I> -> !tile.view<?x1x$I>
  %yv = tile.view %y axes(0, 1) : memref<?x37x$F> -> !tile.view<?x37x$F>
  tile.kernel grid(%b, %p) = (%blocks, %panels) {
    %i = arith.muli %b, %c4 : index
    %j = arith.muli %p, %tn : index
    %id = tile.load %iv[%i, %c0] : !tile.view<?x1x$I> -> !tile.tile<4x1x$I, $K>
    %g = tile.gather %tv[%id, %j] : !tile.view<6x37x$F>, !tile.tile<4x1x$I, $K> -> !tile.tile<4x$Nx$F, $L>
    tile.store %g, %yv[%i, %j] : !tile.tile<4x$Nx$F, $L>, !tile.view<?x37x$F>
  })mlir",
                {{"F", type},
                 {"I", ids},
                 {"N", number(n)},
                 {"L", "#tile.layout<rows = [threads 2 by 32, registers 2], columns = "
                       "[registers 2, threads 32 by 1]>"},
                 {"K", "#tile.layout<rows = [threads 2 by 32, registers 2], columns = []>"}}),
            {table, rows, makeNumbers(type, {6, 37}, 2)},
            [&](Array &y) {
              for (int64_t r = 0; r < 6; ++r)
                for (int64_t c = 0; c < 37; ++c) {
                  double row = rows.values[r];
                  y.at(r, c) = table.at(row >= 0 && row < 6 ? row : 0, c);
                }
            },
            0, 6);
      }
}

/// Numbers of all bits, ties, infinities and NaN, rounded to nearest even.
TEST(Tiles, Cast) {
  for (auto [from, to] : std::vector<std::pair<const char *, const char *>>{{"f32", "bf16"},
                                                                            {"f32", "f16"},
                                                                            {"bf16", "f32"},
                                                                            {"f16", "f32"},
                                                                            {"f64", "f32"},
                                                                            {"f32", "f64"},
                                                                            {"f16", "f64"},
                                                                            {"bf16", "f16"}}) {
    SCOPED_TRACE(std::string(from) + " to " + to);
    Array x = makeNumbers(from, {13, 21}, 1);
    double specials[] = {0.0,          -0.0,        INFINITY,   -INFINITY,
                         std::nan(""), 1 + 0x1p-8,  1 + 0x3p-8, 1 + 0x1p-8 + 0x1p-20,
                         1 + 0x1p-11,  1 + 0x3p-11, 65519,      65520};
    for (size_t i = 0; i < std::size(specials) && (i < 5 || from == std::string("f32")); ++i)
      x.values[40 + i] = specials[i];
    check(
        makeKernel("%x: memref<?x21x$F>, %y: memref<?x21x$G>", R"mlir(
  %c6 = arith.constant 6 : index
  %rows = memref.dim %x, %c0 : memref<?x21x$F>
  %blocks = arith.ceildivui %rows, %c6 : index
  %xv = tile.view %x axes(0, 1) : memref<?x21x$F> -> !tile.view<?x21x$F>
  %yv = tile.view %y axes(0, 1) : memref<?x21x$G> -> !tile.view<?x21x$G>
  tile.kernel grid(%b) = (%blocks) {
    %i = arith.muli %b, %c6 : index
    %t = tile.load %xv[%i, %c0] : !tile.view<?x21x$F> -> !tile.tile<6x21x$F, $L>
    %u = tile.cast %t : !tile.tile<6x21x$F, $L> -> !tile.tile<6x21x$G, $L>
    tile.store %u, %yv[%i, %c0] : !tile.tile<6x21x$G, $L>, !tile.view<?x21x$G>
  })mlir",
                   {{"F", from},
                    {"G", to},
                    {"L", "#tile.layout<rows = [threads 8 by 16], columns = [registers 2, "
                          "threads 16 by 1]>"}}),
        {x, makeNumbers(to, {13, 21}, 2)}, [&](Array &y) { y.values = x.values; }, 0, 3);
  }
}

/// Tiles out of a branch, tiles that a loop exchanges, and a scalar beside them; an element of a
/// reduced tile decides.
TEST(Tiles, Carried) {
  for (int64_t times : {0, 1, 2, 5}) {
    Array x = makeNumbers("f32", {7, 9}, 1);
    check(
        makeKernel("%x: memref<?x9xf32>, %n: index, %y: memref<?x9xf32>", kCarried,
                   {{"T", "!tile.tile<4x9xf32, #tile.layout<rows = [registers 4], columns = "
                          "[threads 16 by 2]>>"},
                    {"EXTRACT", "%w = tile.splat %q#1 : $U\n    %e = tile.extract %w : $U"},
                    {"K", "%e"},
                    {"U", "!tile.tile<1x1xf32, #tile.layout<rows = [], columns = []>>"}},
                   32),
        {x, makeIndex(times), makeNumbers("f32", {7, 9}, 2)}, [&](Array &y) { carry(x, times, y); },
        0, 3);
  }
}

/// An element's place says where a table is read that has no more; padded places read nothing.
TEST(Tiles, LookupOfPaddedTiles) {
  Array table = makeNumbers("f32", {19}, 1);
  check(
      makeKernel("%t: memref<?xf32>, %y: memref<3x19xf32>", R"mlir(
  %yv = tile.view %y axes(0, 1) : memref<3x19xf32> -> !tile.view<3x19xf32>
  tile.kernel grid(%b) = (%c1) {
    %at = tile.iota axis(1) from %c0 : !tile.tile<3x19xi32, $L>
    %o = tile.map(%u = %at) : (!tile.tile<3x19xi32, $L>) -> !tile.tile<3x19xf32, $L> {
      %0 = arith.index_cast %u : i32 to index
      %1 = memref.load %t[%0] : memref<?xf32>
      tile.yield %1 : f32
    }
    tile.store %o, %yv[%c0, %c0] : !tile.tile<3x19xf32, $L>, !tile.view<3x19xf32>
  })mlir",
                 {{"L", "#tile.layout<rows = [threads 4 by 32], columns = [registers 3, threads "
                        "8 by 1, registers 2]>"}}),
      {table, makeNumbers("f32", {3, 19}, 2)},
      [&](Array &y) {
        for (int64_t r = 0; r < 3; ++r)
          for (int64_t c = 0; c < 19; ++c)
            y.at(r, c) = table.values[c];
      },
      0, 1);
}

/// Rows of one head of a cache, up to a length; all else stays. The layout's threads change.
TEST(Tiles, AppendAndOtherLayout) {
  int64_t first = 3, rows = 11, room = 16, end = first + rows;
  Array x = makeNumbers("f32", {rows, 20}, 1);
  check(
      makeKernel("%x: memref<?x20xf32>, %first: index, %end: index, %y: memref<2x3x?x20xf32>",
                 R"mlir(
  %c2 = arith.constant 2 : index
  %c5 = arith.constant 5 : index
  %rows = memref.dim %x, %c0 : memref<?x20xf32>
  %blocks = arith.ceildivui %rows, %c5 : index
  %xv = tile.view %x axes(0, 1) : memref<?x20xf32> -> !tile.view<?x20xf32>
  %yv = tile.view %y at(%c1, %c2) axes(2, 3) length(%end) : memref<2x3x?x20xf32> -> !tile.view<?x20xf32>
  tile.kernel grid(%b) = (%blocks) {
    %i = arith.muli %b, %c5 : index
    %at = arith.addi %first, %i : index
    %t = tile.load %xv[%i, %c0] : !tile.view<?x20xf32> -> !tile.tile<5x20xf32, $L>
    %u = tile.cast %t : !tile.tile<5x20xf32, $L> -> !tile.tile<5x20xf32, $K>
    tile.store %u, %yv[%at, %c0] : !tile.tile<5x20xf32, $K>, !tile.view<?x20xf32>
  })mlir",
                 {{"L", "#tile.layout<rows = [registers 5], columns = [threads 32 by 1]>"},
                  {"K", "#tile.layout<rows = [registers 3, registers 2], columns = [threads 32 "
                        "by 1]>"}}),
      {x, makeIndex(first), makeIndex(end), makeNumbers("f32", {2, 3, room, 20}, 2)},
      [&](Array &y) {
        for (int64_t r = 0; r < rows; ++r)
          for (int64_t c = 0; c < 20; ++c)
            y.values[5 * room * 20 + (first + r) * 20 + c] = x.at(r, c);
      },
      0, 3);
}

} // namespace
