// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Beam search by hand: which texts go on, which are finished, how their lengths count, when the
// search ends. test/e2e compares whole searches with those of transformers.
#include "runtime/BeamSearch.h"

#include <gtest/gtest.h>

#include <cmath>

using namespace fovea;

namespace {

/// Logarithms of probabilities of the tokens 0, 1 (which ends a text), 2 and 3, for each row.
std::vector<float> logs(std::initializer_list<std::vector<double>> rows) {
  std::vector<float> result;
  for (const std::vector<double> &row : rows)
    for (double probability : row)
      result.push_back(static_cast<float>(std::log(probability)));
  return result;
}

BeamOptions options(size_t beams) {
  BeamOptions result;
  result.beams = beams;
  result.longest = 8;
  result.ends = {1};
  return result;
}

TEST(BeamSearch, OneBeamIsGreedy) {
  BeamSearch search(options(1));
  EXPECT_TRUE(search.step(logs({{0.1, 0.2, 0.6, 0.1}}).data(), 4));
  EXPECT_EQ(search.running()[0].tokens, (std::vector<int64_t>{2}));
  EXPECT_FALSE(search.step(logs({{0.1, 0.7, 0.1, 0.1}}).data(), 4));
  ASSERT_EQ(search.finished().size(), 1u);
  EXPECT_EQ(search.finished()[0].tokens, (std::vector<int64_t>{2, 1}));
  EXPECT_NEAR(search.finished()[0].score, std::log(0.6 * 0.7) / 2, 1e-6);
}

TEST(BeamSearch, ALessLikelyBeginningMayWin) {
  BeamSearch search(options(2));
  // At first both rows are the same text, and only one counts.
  EXPECT_TRUE(
      search.step(logs({{0.0001, 0.0001, 0.6, 0.3998}, {0.0001, 0.0001, 0.6, 0.3998}}).data(), 4));
  EXPECT_EQ(search.running()[0].tokens, (std::vector<int64_t>{2}));
  EXPECT_EQ(search.running()[1].tokens, (std::vector<int64_t>{3}));
  EXPECT_EQ(search.running()[1].row, 0u);
  // Behind 2 all is open; behind 3 the end is certain.
  EXPECT_TRUE(
      search.step(logs({{0.25, 0.25, 0.25, 0.25}, {0.001, 0.997, 0.001, 0.001}}).data(), 4));
  ASSERT_EQ(search.finished().size(), 1u); // of the two best candidates one ends
  EXPECT_EQ(search.finished()[0].tokens, (std::vector<int64_t>{3, 1}));
  EXPECT_NEAR(search.finished()[0].score, std::log(0.3998 * 0.997) / 2, 1e-5);
  EXPECT_EQ(search.running()[0].row, 0u);
}

TEST(BeamSearch, TheGreatestLengthEndsAll) {
  BeamOptions shortest = options(2);
  shortest.longest = 1;
  BeamSearch search(shortest);
  EXPECT_FALSE(search.step(logs({{0.1, 0.2, 0.4, 0.3}, {0.1, 0.2, 0.4, 0.3}}).data(), 4));
  ASSERT_EQ(search.finished().size(), 2u);
  EXPECT_EQ(search.finished()[0].tokens, (std::vector<int64_t>{2}));
  EXPECT_EQ(search.finished()[1].tokens, (std::vector<int64_t>{3}));
}

TEST(BeamSearch, EarlyStoppingEndsOnceAllAreFinished) {
  for (BeamOptions::Stop stop :
       {BeamOptions::Stop::Full, BeamOptions::Stop::Likely, BeamOptions::Stop::Never}) {
    BeamOptions one = options(1);
    one.stop = stop;
    one.lengthPenalty = 4; // what goes on may still become better
    BeamSearch search(one);
    bool goesOn = search.step(logs({{0.2, 0.5, 0.2, 0.1}}).data(), 4);
    EXPECT_EQ(goesOn, stop == BeamOptions::Stop::Never) << static_cast<int>(stop);
  }
}

TEST(BeamSearch, LengthPenalty) {
  // Ends at once with 0.5, or with 0.9 * 0.9 one later.
  for (auto [penalty, length] : {std::make_pair(0.0, 1u), {3.0, 2u}}) {
    BeamOptions two = options(2);
    two.lengthPenalty = penalty;
    two.stop = BeamOptions::Stop::Never;
    BeamSearch search(two);
    search.step(logs({{0.01, 0.5, 0.48, 0.01}, {0.01, 0.5, 0.48, 0.01}}).data(), 4);
    search.step(logs({{0.05, 0.9, 0.03, 0.02}, {0.05, 0.9, 0.03, 0.02}}).data(), 4);
    EXPECT_EQ(search.finished()[0].tokens.size(), length) << penalty;
  }
}

TEST(BeamSearch, LogSoftmax) {
  std::vector<float> logits = {1, 2, 3, -1000};
  logSoftmax(logits.data(), logits.size());
  double sum = 0;
  for (float logit : logits)
    sum += std::exp(double(logit));
  EXPECT_NEAR(sum, 1, 1e-6);
  EXPECT_NEAR(logits[2] - logits[0], 2, 1e-6);
}

} // namespace
