// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Sampling: which tokens may come, how often they do, and that nothing depends on
// the machine.
#include "runtime/Sampler.h"

#include "runtime/status/Status.h"

#include <gtest/gtest.h>

#include <cmath>
#include <limits>

using namespace fovea;

namespace {

/// How often each token comes in `draws` draws.
std::vector<int> count(SamplerOptions options, const std::vector<float> &logits, int draws) {
  Sampler sampler(options);
  std::vector<int> counts(logits.size());
  for (int i = 0; i < draws; ++i) {
    std::vector<float> own = logits;
    ++counts[static_cast<size_t>(sampler.choose(own.data(), own.size()))];
  }
  return counts;
}

std::vector<size_t> drawn(const SamplerOptions &options, const std::vector<float> &logits) {
  std::vector<int> counts = count(options, logits, 5000);
  std::vector<size_t> tokens;
  for (size_t i = 0; i < counts.size(); ++i)
    if (counts[i])
      tokens.push_back(i);
  return tokens;
}

const std::vector<float> logits = {0.0f, 2.0f, 1.0f, 2.0f, -1.0f, -50.0f};

TEST(Sampler, ExpIsExact) {
  EXPECT_EQ(exactExp(0), 1.0);
  for (double x = -700; x <= 0; x += 0.37)
    EXPECT_NEAR(exactExp(x) / std::exp(x), 1.0, 2e-15) << x;
  EXPECT_EQ(exactExp(-std::numeric_limits<double>::infinity()), 0.0);
}

TEST(Sampler, GreedyTakesTheLowestOfEqual) {
  SamplerOptions options;
  options.temperature = 0;
  EXPECT_EQ(drawn(options, logits), std::vector<size_t>{1});
}

/// What an entry says in place of a token is told as scanning the logits tells it.
TEST(Sampler, FailsAsScanningDoes) {
  SamplerOptions options;
  options.temperature = 0;
  Sampler sampler(options);
  EXPECT_TRUE(sampler.isGreedy());
  std::vector<float> unordered = {0.0f, std::nanf(""), 2.0f};
  auto messageOf = [](auto run) {
    try {
      run();
    } catch (const Failure &failure) {
      return failure.message;
    }
    return std::string();
  };
  std::string scanned = messageOf([&] { sampler.choose(unordered.data(), unordered.size()); });
  EXPECT_EQ(scanned, "logit 1 is not a number");
  EXPECT_EQ(messageOf([&] { Sampler::failToken(unordered.data(), unordered.size(), -1); }),
            scanned);
  const float numbers[] = {0, 1, 2};
  EXPECT_EQ(messageOf([&] { Sampler::failToken(numbers, 3, -1); }),
            "next_token is -1; expects one of 3 tokens");
  for (int64_t bad : {int64_t(-2), int64_t(3), std::numeric_limits<int64_t>::max()})
    EXPECT_EQ(messageOf([&] { Sampler::failToken(unordered.data(), unordered.size(), bad); }),
              "next_token is " + std::to_string(bad) + "; expects one of 3 tokens");
  options.repetitionPenalty = 1.1f;
  EXPECT_FALSE(Sampler(options).isGreedy());
  options.repetitionPenalty = 1;
  options.temperature = 0.1f;
  EXPECT_FALSE(Sampler(options).isGreedy());
}

TEST(Sampler, FrequenciesFollowTheSoftmax) {
  for (float temperature : {1.0f, 0.5f, 2.0f}) {
    SamplerOptions options;
    options.temperature = temperature;
    options.seed = 11;
    constexpr int draws = 100000;
    std::vector<int> counts = count(options, logits, draws);
    double total = 0;
    for (float logit : logits)
      total += std::exp(logit / temperature);
    for (size_t i = 0; i < logits.size(); ++i) {
      double p = std::exp(logits[i] / temperature) / total;
      // Five standard deviations of a binomial distribution.
      EXPECT_NEAR(counts[i], draws * p, 5 * std::sqrt(draws * p * (1 - p)) + 1) << i;
    }
  }
}

TEST(Sampler, TopKKeepsTheLikeliest) {
  SamplerOptions options;
  options.temperature = 1;
  options.topK = 1;
  EXPECT_EQ(drawn(options, logits), (std::vector<size_t>{1}));
  options.topK = 3;
  EXPECT_EQ(drawn(options, logits), (std::vector<size_t>{1, 2, 3}));
  options.topK = 100;
  EXPECT_EQ(drawn(options, logits), (std::vector<size_t>{0, 1, 2, 3, 4}));
}

TEST(Sampler, TopPKeepsTheFewestThatReachIt) {
  // Probabilities at temperature 1: 0.053, 0.394, 0.145, 0.394, 0.020.
  SamplerOptions options;
  options.temperature = 1;
  options.topP = 0.3f;
  EXPECT_EQ(drawn(options, logits), (std::vector<size_t>{1}));
  options.topP = 0.5f;
  EXPECT_EQ(drawn(options, logits), (std::vector<size_t>{1, 3}));
  options.topP = 0.9f;
  EXPECT_EQ(drawn(options, logits), (std::vector<size_t>{1, 2, 3}));
  // Top-p is of what top-k left.
  options.topK = 2;
  options.topP = 0.6f;
  EXPECT_EQ(drawn(options, logits), (std::vector<size_t>{1, 3}));
}

TEST(Sampler, MinPKeepsThoseNearTheLikeliest) {
  SamplerOptions options;
  options.temperature = 1;
  options.minP = 0.3f; // e^-1 = 0.37 stays, e^-2 = 0.14 goes.
  EXPECT_EQ(drawn(options, logits), (std::vector<size_t>{1, 2, 3}));
  options.minP = 1;
  EXPECT_EQ(drawn(options, logits), (std::vector<size_t>{1, 3}));
}

TEST(Sampler, PenaltyIsForTokensSeen) {
  SamplerOptions options;
  options.temperature = 0;
  options.repetitionPenalty = 1.5f;
  Sampler sampler(options);
  sampler.see(1);
  sampler.see(1);
  sampler.see(4);
  std::vector<float> own = logits;
  EXPECT_EQ(sampler.choose(own.data(), own.size()), 3);
  EXPECT_EQ(own[1], 2.0f / 1.5f);
  EXPECT_EQ(own[4], -1.5f);
}

TEST(Sampler, SameSeedSameTokens) {
  // These very numbers on every machine. The first: 13930160852258120406 / 2^64 of 2.553,
  // the sum of e^(logit - 2), falls into token 3.
  SamplerOptions options;
  options.temperature = 1;
  options.seed = 42;
  Sampler sampler(options);
  std::vector<int64_t> tokens;
  for (int i = 0; i < 12; ++i) {
    std::vector<float> own = logits;
    tokens.push_back(sampler.choose(own.data(), own.size()));
  }
  EXPECT_EQ(tokens, (std::vector<int64_t>{3, 3, 3, 1, 3, 1, 2, 1, 1, 1, 0, 2}));
  options.seed = 43;
  EXPECT_NE(count(options, logits, 100), count({1, 0, 1, 0, 1, 42}, logits, 100));
}

TEST(Sampler, OptionsOutOfRangeAreRefused) {
  const float nan = std::numeric_limits<float>::quiet_NaN();
  for (SamplerOptions options : std::vector<SamplerOptions>{{-1, 0, 1, 0, 1, 0},
                                                            {nan, 0, 1, 0, 1, 0},
                                                            {1, -1, 1, 0, 1, 0},
                                                            {1, 0, 0, 0, 1, 0},
                                                            {1, 0, 1.5f, 0, 1, 0},
                                                            {1, 0, 1, -0.1f, 1, 0},
                                                            {1, 0, 1, nan, 1, 0},
                                                            {1, 0, 1, 0, 0, 0}})
    EXPECT_THROW(Sampler{options}, Failure);
}

TEST(Sampler, OddLogits) {
  const float infinity = std::numeric_limits<float>::infinity();
  SamplerOptions options;
  options.temperature = 1;
  EXPECT_EQ(drawn(options, {-infinity, 1, -infinity}), std::vector<size_t>{1});
  EXPECT_EQ(drawn(options, {0, infinity, 1}), std::vector<size_t>{1});
  EXPECT_EQ(drawn(options, {-infinity, -infinity}), (std::vector<size_t>{0, 1}));
  Sampler sampler(options);
  float bad[] = {0, std::numeric_limits<float>::quiet_NaN()};
  EXPECT_THROW(sampler.choose(bad, 2), Failure);
}

} // namespace
