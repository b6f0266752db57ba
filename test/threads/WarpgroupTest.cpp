// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Products by wgmma: operands in registers and in shared memory whose panels run along either axis,
// of every swizzle, one panel or several; what is not whole is left to mma.sync. The expected
// values are sums of small integers, exact.
#include "test/threads/DeviceCode.h"
#include <gtest/gtest.h>

using namespace mlir;
using namespace mlir::fovea;
using ::fovea::test::Operand;

namespace {

enum class Left { Rows, Columns, Computed };

struct Product {
  const char *name;
  int64_t m, n, k; ///< of the tile
  Left left;
  bool rightByDepth; ///< in memory k is the fast axis
  const char *type = "bf16";
  bool into = false;
  bool byWarpgroups = true;
};

const Product kProducts[] = {
    {"narrow", 64, 8, 16, Left::Rows, true},
    {"narrow_by_columns", 64, 8, 16, Left::Columns, false},
    {"swizzle_64", 64, 32, 32, Left::Rows, true},
    {"swizzle_64_by_columns", 64, 32, 32, Left::Columns, false, "f16"},
    {"swizzle_32_by_columns", 64, 16, 16, Left::Rows, false},
    {"one_panel", 64, 64, 64, Left::Rows, true, "f16", true},
    {"two_panels", 64, 128, 128, Left::Rows, true},
    {"two_panels_by_columns", 64, 128, 128, Left::Columns, false, "bf16", true},
    {"uneven_panels", 64, 96, 80, Left::Rows, true},
    {"uneven_panels_by_columns", 64, 96, 80, Left::Rows, false},
    {"registers", 64, 64, 64, Left::Computed, false, "bf16", true},
    {"registers_f16", 64, 72, 48, Left::Computed, true, "f16"},
    {"most_columns", 64, 256, 32, Left::Computed, false},
    {"two_blocks", 128, 64, 64, Left::Rows, true, "bf16", true},
    {"two_blocks_by_columns", 128, 40, 32, Left::Columns, true},
    {"two_blocks_in_registers", 128, 24, 64, Left::Computed, false},
    {"three_groups", 192, 64, 64, Left::Rows, true, "bf16", true},
    {"three_groups_by_columns", 192, 40, 32, Left::Columns, true, "f16"},
    {"three_groups_in_registers", 192, 64, 64, Left::Computed, false, "bf16", true},
    {"two_groups_of_two_blocks", 256, 24, 64, Left::Rows, true},
    {"five_blocks", 320, 16, 32, Left::Computed, true},
    {"deep", 64, 64, 384, Left::Rows, true, "bf16", true},
    {"few_rows", 32, 64, 64, Left::Rows, true, "bf16", false, false},
    {"odd_depth", 64, 64, 24, Left::Rows, true, "bf16", false, false},
    {"odd_columns", 64, 60, 32, Left::Rows, false, "bf16", false, false},
};

/// Sums of products of these are exact.
Array makeIntegers(const std::string &type, std::vector<int64_t> shape, int64_t seed) {
  Array array = makeNumbers(type, std::move(shape), seed);
  for (auto [i, value] : llvm::enumerate(array.values))
    value = static_cast<double>((static_cast<int64_t>(i) * 7 + seed + i / 11) % 9) - 4;
  return array;
}

/// y = a b, or 1 + a b: of a the last three rows are outside of the view, of b the last column.
std::string getText(const Product &p) {
  bool rows = p.left != Left::Columns;
  std::string load =
      p.left == Left::Computed
          ? "%wide = tile.load %av[%c0, %c0] : $AV -> !tile.tile<$Mx$Kxf32>\n"
            "    %at = tile.cast %wide : !tile.tile<$Mx$Kxf32> -> !tile.tile<$Mx$Kx$F>"
          : "%at = tile.load %av[%c0, %c0] : $AV -> !tile.tile<$Mx$Kx$F>";
  return fill(R"mlir(
func.func private @kernel(%a: $A, %b: $B, %y: memref<?x$Oxf32>, %part: index, %parts: index) {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %first = arith.constant $FIRST : f32
  %av = tile.view %a $AXES : $A -> $AV
  %bv = tile.view %b $BXES : $B -> $BV
  %yv = tile.view %y axes(0, 1) : memref<?x$Oxf32> -> !tile.view<?x$Oxf32>
  tile.kernel grid(%i) = (%c1) {
    $LOAD
    %bt = tile.load %bv[%c0, %c0] : $BV -> !tile.tile<$Nx$Kx$F>
    %sum = tile.splat %first : !tile.tile<$Mx$Nxf32>
    %s = tile.dot %at, %bt transpose_b into %sum : !tile.tile<$Mx$Kx$F>, !tile.tile<$Nx$Kx$F> -> !tile.tile<$Mx$Nxf32>
    tile.store %s, %yv[%c0, %c0] : !tile.tile<$Mx$Nxf32>, !tile.view<?x$Oxf32>
  }
  return
}
)mlir",
              {{"LOAD", load},
               {"A", rows ? "memref<?x$Kx$L>" : "memref<$Kx?x$L>"},
               {"AV", "!tile.view<?x$Kx$L>"},
               {"AXES", rows ? "axes(0, 1)" : "axes(1, 0)"},
               {"B", p.rightByDepth ? "memref<$Ox$Kx$F>" : "memref<$Kx$Ox$F>"},
               {"BV", "!tile.view<$Ox$Kx$F>"},
               {"BXES", p.rightByDepth ? "axes(0, 1)" : "axes(1, 0)"},
               {"FIRST", p.into ? "1.0" : "0.0"},
               {"L", p.left == Left::Computed ? "f32" : p.type},
               {"M", std::to_string(p.m)},
               {"N", std::to_string(p.n)},
               {"K", std::to_string(p.k)},
               {"O", std::to_string(p.n - 1)},
               {"F", p.type}});
}

TileCall makeCall(const Product &p) {
  int64_t rows = p.m - 3, columns = p.n - 1;
  bool byRows = p.left != Left::Columns;
  std::string leftType = p.left == Left::Computed ? "f32" : p.type;
  Array a = makeIntegers(leftType, byRows ? std::vector{rows, p.k} : std::vector{p.k, rows}, 1);
  Array b = makeIntegers(p.type,
                         p.rightByDepth ? std::vector{columns, p.k} : std::vector{p.k, columns}, 2);
  Array y = makeNumbers("f32", {rows, columns}, 3), before = y;
  for (int64_t m = 0; m < rows; ++m)
    for (int64_t n = 0; n < columns; ++n) {
      y.at(m, n) = p.into ? 1 : 0;
      for (int64_t k = 0; k < p.k; ++k)
        y.at(m, n) +=
            (byRows ? a.at(m, k) : a.at(k, m)) * (p.rightByDepth ? b.at(n, k) : b.at(k, n));
    }
  return {{a, b, before}, {a, b, y}};
}

class Warpgroups : public testing::TestWithParam<Product> {};

TEST_P(Warpgroups, Multiply) {
  if (!::fovea::test::runsOn("sm_90a"))
    GTEST_SKIP() << "the device runs no code for sm_90a";
  const Product &p = GetParam();
  auto code = DeviceCode::make(getText(p), "sm_90a", /*hasLayouts=*/false);
  ASSERT_TRUE(code) << getText(p);
  EXPECT_EQ(code->ptx.find("wgmma.mma_async") != std::string::npos, p.byWarpgroups) << code->ptx;
  checkAssembles(*code);
  checkCall(*code, makeCall(p), 0, 2);
}

INSTANTIATE_TEST_SUITE_P(All, Warpgroups, testing::ValuesIn(kProducts),
                         [](const testing::TestParamInfo<Product> &info) {
                           return std::string(info.param.name);
                         });

/// What the emulator says of the kernel's text after a change.
std::string runChanged(const DeviceCode &code, const TileCall &call, const std::string &from,
                       const std::string &to) {
  std::string ptx = code.ptx;
  size_t at = ptx.find(from);
  EXPECT_NE(at, std::string::npos) << from << ptx;
  for (; at != std::string::npos; at = ptx.find(from, at + to.size()))
    ptx.replace(at, from.size(), to);
  std::vector<Operand> operands = code.makeOperands("kernel", call.before);
  return ::fovea::test::launch(ptx, "kernel", code.getShape("kernel", 1), operands, /*late=*/true);
}

TEST(Warpgroups, WhatIsMissingIsFound) {
  if (!::fovea::test::onEmulator())
    GTEST_SKIP() << "only the emulator finds what is missing";
  const Product product = {"registers", 64, 64, 64, Left::Computed, false, "bf16", true};
  auto code = DeviceCode::make(getText(product), "sm_90a", /*hasLayouts=*/false);
  ASSERT_TRUE(code);
  TileCall call = makeCall(product);
  EXPECT_EQ(runChanged(*code, call, "bar.sync", "bar.sync"), "");
  EXPECT_NE(runChanged(*code, call, "fence.proxy.async.shared::cta;", ""), "");
  EXPECT_NE(runChanged(*code, call, "wgmma.fence.sync.aligned;", ""), "");
  EXPECT_NE(runChanged(*code, call, "wgmma.wait_group.sync.aligned 0;", ""), "");
  EXPECT_NE(runChanged(*code, call, "wgmma.commit_group.sync.aligned;", ""), "");
  EXPECT_NE(runChanged(*code, call, "bar.sync \t0;", ""), "");
}

/// y = sum over blocks of 64 keys of (q k^T) v, of which each product runs beside the next block's.
const char *kBlocks = R"mlir(
func.func private @kernel(%q: memref<64x64xbf16>, %k: memref<?x64xbf16>, %v: memref<?x64xbf16>, %y: memref<64x64xf32>, %part: index, %parts: index) {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %c64 = arith.constant 64 : index
  %zero = arith.constant 0.0 : f32
  %n = memref.dim %k, %c0 : memref<?x64xbf16>
  %qv = tile.view %q axes(0, 1) : memref<64x64xbf16> -> !tile.view<64x64xbf16>
  %kv = tile.view %k axes(0, 1) : memref<?x64xbf16> -> !tile.view<?x64xbf16>
  %vv = tile.view %v axes(0, 1) : memref<?x64xbf16> -> !tile.view<?x64xbf16>
  %yv = tile.view %y axes(0, 1) : memref<64x64xf32> -> !tile.view<64x64xf32>
  tile.kernel grid(%i) = (%c1) {
    %qt = tile.load %qv[%c0, %c0] : !tile.view<64x64xbf16> -> !tile.tile<64x64xbf16>
    %none = tile.splat %zero : !tile.tile<64x64xf32>
    %none1 = tile.splat %zero : !tile.tile<64x1xf32>
    %r:2 = scf.for %j = %c0 to %n step %c64 iter_args(%o = %none, %t = %none1) -> (!tile.tile<64x64xf32>, !tile.tile<64x1xf32>) {
      %kt = tile.load %kv[%j, %c0] : !tile.view<?x64xbf16> -> !tile.tile<64x64xbf16>
      %vt = tile.load %vv[%j, %c0] : !tile.view<?x64xbf16> -> !tile.tile<64x64xbf16>
      %s = tile.dot %qt, %kt transpose_b : !tile.tile<64x64xbf16>, !tile.tile<64x64xbf16> -> !tile.tile<64x64xf32>
      %sums = tile.reduce sum %s axis(1) : !tile.tile<64x64xf32> -> !tile.tile<64x1xf32>
      %total = tile.map(%a = %t, %b = %sums) : (!tile.tile<64x1xf32>, !tile.tile<64x1xf32>) -> !tile.tile<64x1xf32> {
        %0 = arith.addf %a, %b : f32
        tile.yield %0 : f32
      }
      %p = tile.cast %s : !tile.tile<64x64xf32> -> !tile.tile<64x64xbf16>
      %next = tile.dot %p, %vt into %o : !tile.tile<64x64xbf16>, !tile.tile<64x64xbf16> -> !tile.tile<64x64xf32>
      scf.yield %next, %total : !tile.tile<64x64xf32>, !tile.tile<64x1xf32>
    }
    %wide = tile.broadcast %r#1 : !tile.tile<64x1xf32> -> !tile.tile<64x64xf32>
    %all = tile.map(%a = %r#0, %b = %wide) : (!tile.tile<64x64xf32>, !tile.tile<64x64xf32>) -> !tile.tile<64x64xf32> {
      %0 = arith.addf %a, %b : f32
      tile.yield %0 : f32
    }
    tile.store %all, %yv[%c0, %c0] : !tile.tile<64x64xf32>, !tile.view<64x64xf32>
  }
  return
}
)mlir";

/// Of numbers so small that scores of bf16 are exact.
TileCall makeBlocks(int64_t keys) {
  Array q = makeIntegers("bf16", {64, 64}, 1), k = makeIntegers("bf16", {keys, 64}, 2);
  Array v = makeIntegers("bf16", {keys, 64}, 3), y = makeNumbers("f32", {64, 64}, 4), before = y;
  for (Array *array : {&q, &k})
    for (double &value : array->values)
      value = value > 1 ? 1 : value < -1 ? -1 : value;
  std::fill(y.values.begin(), y.values.end(), 0);
  for (int64_t i = 0; i < 64; ++i)
    for (int64_t j = 0; j < keys; ++j) {
      double score = 0;
      for (int64_t d = 0; d < 64; ++d)
        score += q.at(i, d) * k.at(j, d);
      for (int64_t d = 0; d < 64; ++d)
        y.at(i, d) += score * (v.at(j, d) + 1);
    }
  return {{q, k, v, before}, {q, k, v, y}};
}

TEST(Warpgroups, ProductsOverlap) {
  if (!::fovea::test::runsOn("sm_90a"))
    GTEST_SKIP() << "the device runs no code for sm_90a";
  auto code = DeviceCode::make(kBlocks, "sm_90a", /*hasLayouts=*/false);
  ASSERT_TRUE(code);
  checkAssembles(*code);
  for (int64_t keys : {1, 64, 65, 128, 192, 320, 330})
    checkCall(*code, makeBlocks(keys), 0, 2);
  if (!::fovea::test::onEmulator())
    return;
  // Both are in flight while the sums are computed.
  const std::string first = "wgmma.wait_group.sync.aligned 1;";
  EXPECT_NE(code->ptx.find(first), std::string::npos) << code->ptx;
  TileCall call = makeBlocks(330);
  EXPECT_EQ(runChanged(*code, call, "bar.sync", "bar.sync"), "");
  EXPECT_NE(runChanged(*code, call, first, "wgmma.wait_group.sync.aligned 2;"), "");
  EXPECT_NE(runChanged(*code, call, first, ""), "");
  EXPECT_NE(runChanged(*code, call, "wgmma.wait_group.sync.aligned 0;",
                       "wgmma.wait_group.sync.aligned 1;"),
            "");
  EXPECT_NE(runChanged(*code, call, "bar.sync \t0;", ""), "");
}

} // namespace
