// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Loops whose copies begin rounds ahead: any number of rounds, and what is missing is found.
#include "test/threads/DeviceCode.h"
#include <gtest/gtest.h>

using namespace mlir;
using namespace mlir::fovea;
using ::fovea::test::Operand;

namespace {

constexpr int64_t kSize = 32, kDepth = 112, kStep = 16;

/// y = a b, summed over the steps of k that begin from `first` to before `end`.
std::unique_ptr<DeviceCode> makeProduct() {
  return DeviceCode::make(R"mlir(
func.func private @kernel(%a: memref<32x112xf32>, %b: memref<112x32xf32>, %first: index, %end: index, %y: memref<32x32xf32>, %part: index, %parts: index) {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %c16 = arith.constant 16 : index
  %zero = arith.constant 0.0 : f32
  %av = tile.view %a axes(0, 1) : memref<32x112xf32> -> !tile.view<32x112xf32>
  %bv = tile.view %b axes(0, 1) : memref<112x32xf32> -> !tile.view<112x32xf32>
  %yv = tile.view %y axes(0, 1) : memref<32x32xf32> -> !tile.view<32x32xf32>
  tile.kernel grid(%i) = (%c1) {
    %none = tile.splat %zero : !tile.tile<32x32xf32>
    %s = scf.for %k = %first to %end step %c16 iter_args(%sum = %none) -> (!tile.tile<32x32xf32>) {
      %l = tile.load %av[%c0, %k] : !tile.view<32x112xf32> -> !tile.tile<32x16xf32>
      %r = tile.load %bv[%k, %c0] : !tile.view<112x32xf32> -> !tile.tile<16x32xf32>
      %next = tile.dot %l, %r into %sum : !tile.tile<32x16xf32>, !tile.tile<16x32xf32> -> !tile.tile<32x32xf32>
      scf.yield %next : !tile.tile<32x32xf32>
    }
    tile.store %s, %yv[%c0, %c0] : !tile.tile<32x32xf32>, !tile.view<32x32xf32>
  }
  return
}
)mlir",
                          "sm_80", /*hasLayouts=*/false);
}

Array product(const Array &a, const Array &b, int64_t first, int64_t end) {
  Array y = makeNumbers("f32", {kSize, kSize}, 3);
  for (int64_t r = 0; r < kSize; ++r)
    for (int64_t c = 0; c < kSize; ++c) {
      y.at(r, c) = 0;
      for (int64_t k = first; k < end; k += kStep)
        for (int64_t i = k; i < k + kStep; ++i)
          y.at(r, c) += a.at(r, i) * b.at(i, c);
    }
  return y;
}

TEST(CopiesAhead, AnyNumberOfRounds) {
  auto code = makeProduct();
  ASSERT_TRUE(code);
  checkAssembles(*code);
  EXPECT_NE(code->ptx.find("cp.async.wait_group"), std::string::npos) << code->ptx;
  Array a = makeNumbers("f32", {kSize, kDepth}, 1), b = makeNumbers("f32", {kDepth, kSize}, 2);
  for (auto [first, end] : std::vector<std::pair<int64_t, int64_t>>{
           {0, 0}, {48, 16}, {0, 1}, {16, 32}, {0, 17}, {32, 80}, {0, 64}, {0, 112}}) {
    SCOPED_TRACE(std::to_string(first) + " to " + std::to_string(end));
    TileCall call{{a, b, makeIndex(first), makeIndex(end), makeNumbers("f32", {kSize, kSize}, 3)},
                  {a, b, makeIndex(first), makeIndex(end), product(a, b, first, end)}};
    checkCall(*code, call, 1e-6, 1);
  }
}

/// What the emulator says of a changed kernel, with asynchronous work early or late.
std::string runChanged(const DeviceCode &code, std::string ptx, bool late) {
  std::vector<Operand> operands;
  for (int64_t elements : {kSize * kDepth, kDepth * kSize})
    operands.push_back({true, 0, std::vector<char>(elements * sizeof(float)), {}});
  operands.push_back({false, 0, {}, {}});
  operands.push_back({false, kDepth, {}, {}});
  operands.push_back({true, 0, std::vector<char>(kSize * kSize * sizeof(float)), {}});
  return ::fovea::test::launch(ptx, "kernel", {1, 160 * 1024, 128}, operands, late);
}

TEST(CopiesAhead, WhatIsMissingIsFound) {
  if (!::fovea::test::onEmulator())
    GTEST_SKIP() << "only the emulator finds what is missing";
  auto code = makeProduct();
  ASSERT_TRUE(code);
  // A copy of the text in which every `from` is `to`.
  auto change = [&](const std::string &from, const std::string &to) {
    std::string ptx = code->ptx;
    size_t count = 0;
    for (size_t at = 0; (at = ptx.find(from, at)) != std::string::npos; at += to.size(), ++count)
      ptx.replace(at, from.size(), to);
    EXPECT_GT(count, 0u) << from << ptx;
    return ptx;
  };
  for (bool late : {false, true}) {
    EXPECT_EQ(runChanged(*code, code->ptx, late), "");
    // A wait for less, no barrier, groups that end where two rounds do.
    EXPECT_NE(
        runChanged(*code, change("cp.async.wait_group \t1;", "cp.async.wait_group \t2;"), late),
        "");
    EXPECT_NE(runChanged(*code, change("bar.sync \t0;", ""), late), "");
    EXPECT_NE(runChanged(*code, change("cp.async.commit_group;", ""), late), "");
  }
}

} // namespace
