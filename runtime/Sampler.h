// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Chooses the next token from logits. Uses no function of the C library whose
// rounding differs between machines: same logits and seed, same tokens.
#ifndef FOVEA_RUNTIME_SAMPLER_H
#define FOVEA_RUNTIME_SAMPLER_H

#include "runtime/status/Status.h"

#include <cstddef>
#include <cstdint>
#include <random>
#include <vector>

namespace fovea {

/// What failed where a logit is NaN; the weights may be at fault.
struct NotANumber : Failure {};

struct SamplerOptions {
  float temperature = 0.8f; ///< 0: always the likeliest, the smaller id of equal ones.
  int32_t topK = 0;         ///< Of the k likeliest; 0: all.
  float topP = 1.0f; ///< Of the fewest likeliest that together reach p (Holtzman et al. 2019).
  float minP = 0.0f; ///< Of those with at least min_p times the likeliest's (Nguyen et al. 2024).
  float repetitionPenalty = 1.0f; ///< On logits of tokens seen (Keskar et al. 2019, 4.1).
  uint64_t seed = 0;
};

/// e^x for x <= 0, to 1e-15 relative; additions and multiplications only.
double exactExp(double x);

class Sampler {
public:
  /// Throws Failure that names the option out of its range.
  explicit Sampler(const SamplerOptions &options);

  /// A token that the penalty is for from now on.
  void see(int64_t token);
  /// One of `count` tokens; changes `logits`. Penalty, then temperature, top-k,
  /// top-p, min-p, in this order. Throws Failure if a logit is not a number.
  int64_t choose(float *logits, size_t count);
  /// Whether `choose` takes the greatest logit as it is.
  bool isGreedy() const { return options.temperature == 0 && options.repetitionPenalty == 1.0f; }
  /// Throws the Failure of a `token` that is no place of `logits`: it is -1 if one of them is NaN,
  /// and then the first is named.
  [[noreturn]] static void failToken(const float *logits, size_t count, int64_t token);

private:
  struct Candidate {
    double weight; ///< e^(logit/temperature - largest), so 1 for the likeliest.
    int64_t token;
  };

  SamplerOptions options;
  std::mt19937_64 generator;
  std::vector<int64_t> seen; ///< Sorted, each once.
  std::vector<Candidate> candidates;
};

} // namespace fovea

#endif // FOVEA_RUNTIME_SAMPLER_H
