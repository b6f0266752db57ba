// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// What is near to a word, and what is not.
#include "frontend/Nearest.h"

#include <gtest/gtest.h>

using namespace fovea;

TEST(Nearest, CountsEdits) {
  EXPECT_EQ(editDistance("", ""), 0u);
  EXPECT_EQ(editDistance("", "abc"), 3u);
  EXPECT_EQ(editDistance("abc", ""), 3u);
  EXPECT_EQ(editDistance("compile", "compile"), 0u);
  EXPECT_EQ(editDistance("complie", "compile"), 1u); // swapped
  EXPECT_EQ(editDistance("sofmax", "softmax"), 1u);  // left out
  EXPECT_EQ(editDistance("Softmmax", "softmax"), 1u);
  EXPECT_EQ(editDistance("softnax", "softmax"), 1u);
  EXPECT_EQ(editDistance("kitten", "sitting"), 3u);
}

TEST(Nearest, FindsOnlyWhatIsNear) {
  std::vector<std::string> verbs = {"compile", "check", "inspect", "run"};
  EXPECT_EQ(findNearest("complie", verbs), "compile");
  EXPECT_EQ(findNearest("chek", verbs), "check");
  EXPECT_EQ(findNearest("rum", verbs), "run");
  EXPECT_EQ(findNearest("translate", verbs), "");
  EXPECT_EQ(findNearest("x", verbs), "");
  EXPECT_EQ(findNearest("EvilForCausalLM", {"PhiForCausalLM"}), "");
  EXPECT_EQ(findNearest("PihForCasualLM", {"PhiForCausalLM"}), "PhiForCausalLM");
  EXPECT_EQ(findNearest("", verbs), "");
  EXPECT_EQ(findNearest("ab", {"a", "cd"}), ""); // nothing that is all other letters
  EXPECT_EQ(findNearest("abd", {"abc", "abe"}), "abc");
  EXPECT_EQ(findNearest(std::string(1 << 20, 'a'), {std::string(1 << 20, 'a')}), "");
  EXPECT_EQ(didYouMean("complie", verbs), "; did you mean 'compile'?");
  EXPECT_EQ(didYouMean("translate", verbs), "");
}
