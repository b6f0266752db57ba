// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// The tile programs of test/grid, which have no layouts, through all of fovea-to-threads: the same
// programs and expected values as for processors.
#include "test/grid/TileCheck.h"
#include "test/threads/DeviceCode.h"
#include <gtest/gtest.h>

using namespace mlir;
using namespace mlir::fovea;

namespace {

class ThreadGrid : public testing::TestWithParam<size_t> {};

TEST_P(ThreadGrid, AgreesWithTheReference) {
  const TileCase &tile = getTileCases()[GetParam()];
  auto code = DeviceCode::make(tile.text, "sm_80", /*hasLayouts=*/false);
  ASSERT_TRUE(code) << tile.text;
  for (auto [number, call] : llvm::enumerate(tile.calls)) {
    SCOPED_TRACE("call " + std::to_string(number));
    // Blocks past the grid's end do nothing.
    checkCall(*code, call, std::max(tile.tolerance, 1e-6), 300);
  }
}

INSTANTIATE_TEST_SUITE_P(All, ThreadGrid, testing::Range<size_t>(0, getTileCases().size()),
                         [](const testing::TestParamInfo<size_t> &info) {
                           return getTileCases()[info.param].name;
                         });

} // namespace
