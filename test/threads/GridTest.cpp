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

/// A case, and whether products may be done by instructions for matrices.
using Case = std::pair<size_t, bool>;

static std::vector<Case> getCases() {
  std::vector<Case> cases;
  for (auto [number, tile] : llvm::enumerate(getTileCases())) {
    cases.emplace_back(number, true);
    if (tile.text.find("tile.dot") != std::string::npos)
      cases.emplace_back(number, false);
  }
  return cases;
}

class ThreadGrid : public testing::TestWithParam<Case> {};

TEST_P(ThreadGrid, AgreesWithTheReference) {
  auto [number, tensorCores] = GetParam();
  const TileCase &tile = getTileCases()[number];
  auto code = DeviceCode::make(tile.text, "sm_80", /*hasLayouts=*/false, tensorCores);
  ASSERT_TRUE(code) << tile.text;
  for (auto [number, call] : llvm::enumerate(tile.calls)) {
    SCOPED_TRACE("call " + std::to_string(number));
    // Blocks past the grid's end do nothing.
    checkCall(*code, call, tile.tolerance, 300);
  }
}

static std::string getName(const testing::TestParamInfo<Case> &info) {
  return getTileCases()[info.param.first].name + (info.param.second ? "" : "_by_element");
}

INSTANTIATE_TEST_SUITE_P(All, ThreadGrid, testing::ValuesIn(getCases()), getName);

} // namespace
