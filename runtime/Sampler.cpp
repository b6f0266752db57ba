// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// See Sampler.h. Compiled without contraction of a*b+c, which would round
// differently on machines that have it.
#include "runtime/Sampler.h"

#include "runtime/status/Status.h"

#include <algorithm>
#include <cmath>

namespace fovea {

double exactExp(double x) {
  if (x < -700)
    return 0;
  // x = k ln 2 + r with |r| <= ln 2 / 2 (Cody and Waite 1980), then Taylor's series
  // to r^13, whose remainder is below 1e-17.
  double k = std::floor(x * 1.4426950408889634 + 0.5);
  double r = (x - k * 0x1.62e42feep-1) - k * 0x1.a39ef35793c76p-33;
  double sum = 1;
  for (int i = 13; i > 0; --i)
    sum = 1 + sum * r / i;
  return std::ldexp(sum, static_cast<int>(k));
}

Sampler::Sampler(const SamplerOptions &options) : options(options), generator(options.seed) {
  auto check = [](bool fits, const char *name, float value, const char *expected) {
    if (!fits)
      failInvalid(std::string(name) + " expects " + expected + ", got " + std::to_string(value));
  };
  // Written so that not-a-number does not pass.
  check(options.temperature >= 0 && options.temperature < 1e6f, "temperature", options.temperature,
        "0 or more");
  check(options.topK >= 0, "top_k", static_cast<float>(options.topK), "0 or more");
  check(options.topP > 0 && options.topP <= 1, "top_p", options.topP,
        "a number above 0, at most 1");
  check(options.minP >= 0 && options.minP <= 1, "min_p", options.minP, "a number from 0 to 1");
  check(options.repetitionPenalty > 0 && options.repetitionPenalty < 1e6f, "repetition_penalty",
        options.repetitionPenalty, "a number above 0");
}

void Sampler::see(int64_t token) {
  auto at = std::lower_bound(seen.begin(), seen.end(), token);
  if (at == seen.end() || *at != token)
    seen.insert(at, token);
}

[[noreturn]] static void failNotANumber(size_t token) {
  throw NotANumber{{FOVEA_INTERNAL, "logit " + std::to_string(token) + " is not a number"}};
}

void Sampler::failToken(const float *logits, size_t count, int64_t token) {
  for (size_t i = 0; token == -1 && i < count; ++i)
    if (std::isnan(logits[i]))
      failNotANumber(i);
  failInternal("next_token is " + std::to_string(token) + "; expects one of " +
               std::to_string(count) + " tokens");
}

int64_t Sampler::choose(float *logits, size_t count) {
  if (options.repetitionPenalty != 1.0f)
    for (int64_t token : seen)
      if (token >= 0 && static_cast<size_t>(token) < count)
        logits[token] = logits[token] > 0 ? logits[token] / options.repetitionPenalty
                                          : logits[token] * options.repetitionPenalty;
  size_t best = 0;
  for (size_t i = 0; i < count; ++i) {
    if (std::isnan(logits[i]))
      failNotANumber(i);
    if (logits[i] > logits[best])
      best = i;
  }
  if (options.temperature == 0)
    return static_cast<int64_t>(best);

  double largest = logits[best], temperature = options.temperature;
  candidates.clear();
  for (size_t i = 0; i < count; ++i) {
    // The likeliest is 1 also where it is infinite.
    double weight = logits[i] == logits[best]
                        ? 1
                        : exactExp((static_cast<double>(logits[i]) - largest) / temperature);
    if (weight > 0)
      candidates.push_back({weight, static_cast<int64_t>(i)});
  }
  // A heap whose top is the likeliest; each pop_heap moves one more to the end.
  auto less = [](const Candidate &a, const Candidate &b) {
    return a.weight != b.weight ? a.weight < b.weight : a.token > b.token;
  };
  size_t k = options.topK > 0 ? static_cast<size_t>(options.topK) : candidates.size();
  if (k < candidates.size() || options.topP < 1) {
    std::make_heap(candidates.begin(), candidates.end(), less);
    k = std::min(k, candidates.size());
    if (k < candidates.size()) {
      for (size_t i = 0; i < k; ++i)
        std::pop_heap(candidates.begin(), candidates.end() - static_cast<ptrdiff_t>(i), less);
      candidates.erase(candidates.begin(), candidates.end() - static_cast<ptrdiff_t>(k));
      std::make_heap(candidates.begin(), candidates.end(), less);
    }
    double total = 0;
    for (const Candidate &candidate : candidates)
      total += candidate.weight;
    double reached = 0;
    size_t kept = 0;
    while (kept < candidates.size() && (kept == 0 || reached < options.topP * total)) {
      std::pop_heap(candidates.begin(), candidates.end() - static_cast<ptrdiff_t>(kept), less);
      ++kept;
      reached += (candidates.end() - static_cast<ptrdiff_t>(kept))->weight;
    }
    candidates.erase(candidates.begin(), candidates.end() - static_cast<ptrdiff_t>(kept));
  }
  if (options.minP > 0)
    candidates.erase(std::remove_if(candidates.begin(), candidates.end(),
                                    [&](const Candidate &c) { return c.weight < options.minP; }),
                     candidates.end());
  double total = 0;
  for (const Candidate &candidate : candidates)
    total += candidate.weight;
  // 53 bits of the generator, whose numbers the C++ standard fixes: in [0, 1).
  double target = static_cast<double>(generator() >> 11) * 0x1p-53 * total;
  for (const Candidate &candidate : candidates) {
    target -= candidate.weight;
    if (target < 0)
      return candidate.token;
  }
  return candidates.back().token;
}

} // namespace fovea
