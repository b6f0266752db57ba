// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Panels laid out in other panels, against the definition of both.
#include "runtime/Repack.h"

#include <gtest/gtest.h>

#include <string>
#include <vector>

using namespace fovea;

namespace {

/// Bytes of an element that tell all elements apart; zero past the matrix.
std::string element(int64_t n, int64_t k, int64_t outputs, int64_t inputs, size_t bytes) {
  std::string result(bytes, '\0');
  if (n < outputs && k < inputs)
    for (size_t i = 0; i < bytes; ++i)
      result[i] = static_cast<char>((n * inputs + k) * 37 + static_cast<int64_t>(i) * 11 + 1);
  return result;
}

/// The definition: [outputs / width][inputs / interleave][width][interleave].
std::string packed(int64_t outputs, int64_t inputs, size_t bytes, Panels panels) {
  std::string out;
  for (int64_t panel = 0; panel * panels.width < outputs; ++panel)
    for (int64_t unit = 0; unit * panels.interleave < inputs; ++unit)
      for (int64_t n = panel * panels.width; n < (panel + 1) * panels.width; ++n)
        for (int64_t k = unit * panels.interleave; k < (unit + 1) * panels.interleave; ++k)
          out += element(n, k, outputs, inputs, bytes);
  return out;
}

TEST(RepackTest, GivesWhatTheDefinitionGives) {
  const std::pair<int64_t, int64_t> shapes[] = {{33, 5},  {16, 64}, {15, 131}, {48, 70}, {1, 1},
                                                {64, 16}, {32, 8},  {0, 4},    {4, 0}};
  int64_t cases = 0;
  for (size_t bytes : {1, 2, 4, 8})
    for (auto [outputs, inputs] : shapes)
      for (int64_t fromWidth : {8, 16, 24})
        for (int64_t from : {1, 2, 4, 8})
          for (int64_t toWidth : {8, 16, 32})
            for (int64_t to : {1, 2, 4, 8, 16}) {
              if (to % from != 0)
                continue;
              Repacking repacking{outputs, inputs, bytes, {fromWidth, from}, {toWidth, to}};
              std::string in = packed(outputs, inputs, bytes, repacking.from);
              std::string expected = packed(outputs, inputs, bytes, repacking.to), got;
              for (int64_t i = 0; i < repacking.panels(); ++i) {
                std::string panel(repacking.panelBytes(), '\x5a'); // each byte must be written
                repackPanel(repacking, in.data(), i, panel.data());
                got += panel;
              }
              ASSERT_EQ(got, expected)
                  << outputs << "x" << inputs << " of " << bytes << " bytes, " << fromWidth << ", "
                  << from << " to " << toWidth << ", " << to;
              ++cases;
            }
  EXPECT_EQ(cases, 4 * 9 * 3 * 3 * 14);
}

TEST(RepackTest, SizesAreThoseOfTheManifest) {
  for (int64_t outputs : {0, 31, 32, 33})
    for (int64_t inputs : {0, 7, 8, 9}) {
      Repacking repacking{outputs, inputs, 2, {16, 2}, {32, 8}};
      uint64_t bytes = 0;
      ASSERT_TRUE(artifact::weightBytes(manifest::ElementType::BF16, {outputs, inputs},
                                        repacking.to, bytes));
      EXPECT_EQ(static_cast<uint64_t>(repacking.panels()) * repacking.panelBytes(), bytes);
    }
}

} // namespace
