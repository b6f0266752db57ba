// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// The tile programs of test/grid, which have no layouts, through all of fovea-to-threads: the same
// programs and expected values as for processors.
#include "test/threads/DeviceCode.h"
#include <gtest/gtest.h>

using namespace mlir;
using namespace mlir::fovea;

namespace {

const std::vector<TileCase> &getCases() {
  static const std::vector<TileCase> cases = [] {
    std::vector<TileCase> all = makeContractionCases();
    for (auto make : {makeAttentionCases, makeRowCases})
      for (TileCase &one : make())
        all.push_back(std::move(one));
    return all;
  }();
  return cases;
}

class ThreadGrid : public testing::TestWithParam<size_t> {};

TEST_P(ThreadGrid, AgreesWithTheReference) {
  const TileCase &tile = getCases()[GetParam()];
  auto code = DeviceCode::make(tile.text, "sm_80", /*hasLayouts=*/false);
  ASSERT_TRUE(code) << tile.text;
  for (auto [number, call] : llvm::enumerate(tile.calls)) {
    SCOPED_TRACE("call " + std::to_string(number));
    // Blocks past the grid's end do nothing.
    checkCall(*code, call, std::max(tile.tolerance, 1e-6), 300);
  }
}

INSTANTIATE_TEST_SUITE_P(All, ThreadGrid, testing::Range<size_t>(0, getCases().size()),
                         [](const testing::TestParamInfo<size_t> &info) {
                           return getCases()[info.param].name;
                         });

} // namespace
