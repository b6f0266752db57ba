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

struct Case {
  const TileCase *tile;
  std::string name;
  const char *chip = "sm_80";
  bool tensorCores = true;
};

/// All that processors run, with and without instructions for matrices; and what those of 16 bits
/// multiply, by either architecture's.
std::vector<Case> getCases() {
  std::vector<Case> cases;
  for (const TileCase &tile : getTileCases()) {
    if (tile.isOfProcessors)
      continue;
    cases.push_back({&tile, tile.name});
    if (tile.text.find("tile.dot") != std::string::npos)
      cases.push_back({&tile, tile.name + "_by_element", "sm_80", false});
  }
  static const std::vector<TileCase> halves = makeHalfAttentionCases();
  for (const TileCase &tile : halves) {
    cases.push_back({&tile, tile.name});
    cases.push_back({&tile, tile.name + "_on_sm_90a", "sm_90a"});
  }
  return cases;
}

class ThreadGrid : public testing::TestWithParam<Case> {};

TEST_P(ThreadGrid, AgreesWithTheReference) {
  const Case &how = GetParam();
  const TileCase &tile = *how.tile;
  auto code = DeviceCode::make(tile.text, how.chip, /*hasLayouts=*/false, how.tensorCores);
  ASSERT_TRUE(code) << tile.text;
  EXPECT_EQ(code->ptx.find("wgmma") != std::string::npos, how.chip == std::string("sm_90a"));
  for (auto [number, call] : llvm::enumerate(tile.calls)) {
    SCOPED_TRACE("call " + std::to_string(number));
    // Blocks past the grid's end do nothing.
    checkCall(*code, call, tile.tolerance, 300);
  }
}

INSTANTIATE_TEST_SUITE_P(All, ThreadGrid, testing::ValuesIn(getCases()),
                         [](const testing::TestParamInfo<Case> &info) { return info.param.name; });

} // namespace
