// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Two fused attentions that MLIR's NVPTX back end emitted (test/emulator/*.ptx), their inputs, and
// what they must give, computed in f64: one by mma.sync and cp.async, causal, 64 wide; one by wgmma
// and TMA with a producer warp, 128 wide.
#ifndef FOVEA_TEST_UNIT_EMULATOR_ATTENTION_H
#define FOVEA_TEST_UNIT_EMULATOR_ATTENTION_H

#include "emulator/Float.h"

#include <algorithm>
#include <cmath>
#include <cstdint>
#include <random>
#include <vector>

namespace fovea::emulator::test {

struct Attention {
  const char *file;
  bool hopper, causal, brain;
  uint64_t heads, rows, width;

  uint16_t narrow(float x) const { return brain ? toBf16(x) : toF16(x); }
  float wide(uint16_t x) const { return brain ? fromBf16(x) : fromF16(x); }
};
inline const Attention mmaBf16{"attention-mma-bf16.ptx", false, true, true, 2, 192, 64};
inline const Attention mmaF16{"attention-mma-f16.ptx", false, true, false, 2, 192, 64};
inline const Attention wgmmaBf16{"attention-wgmma-bf16.ptx", true, false, true, 2, 384, 128};

struct Problem {
  std::vector<uint16_t> q, k, v;
  std::vector<double> expected;
};

inline Problem problemOf(const Attention &a) {
  Problem p;
  std::mt19937 random(1);
  std::normal_distribution<float> normal;
  for (std::vector<uint16_t> *each : {&p.q, &p.k, &p.v})
    for (uint64_t i = 0; i < a.heads * a.rows * a.width; ++i)
      each->push_back(a.narrow(normal(random)));
  // Scores of every third row differ by hundreds, so that exponentials overflow where they are not
  // taken of differences to the row's own largest one.
  for (uint64_t i = 0; i < p.q.size(); ++i)
    if (i / a.width % 3 == 1)
      p.q[i] = a.narrow(512 * a.wide(p.q[i]));
  p.expected.resize(p.q.size());
  for (uint64_t h = 0; h < a.heads; ++h)
    for (uint64_t i = 0; i < a.rows; ++i) {
      const uint64_t base = h * a.rows * a.width, keys = a.causal ? i + 1 : a.rows;
      std::vector<double> score(keys);
      double most = -1e300, sum = 0;
      for (uint64_t j = 0; j < keys; ++j) {
        double dot = 0;
        for (uint64_t c = 0; c < a.width; ++c)
          dot += double{a.wide(p.q[base + i * a.width + c])} * a.wide(p.k[base + j * a.width + c]);
        most = std::max(most, score[j] = dot / std::sqrt(static_cast<double>(a.width)));
      }
      for (double &x : score)
        sum += x = std::exp(x - most);
      for (uint64_t c = 0; c < a.width; ++c) {
        double out = 0;
        for (uint64_t j = 0; j < keys; ++j)
          out += score[j] / sum * a.wide(p.v[base + j * a.width + c]);
        p.expected[base + i * a.width + c] = out;
      }
    }
  return p;
}

/// Largest difference, of a number above one relative to it; or NaN.
inline double errorOf(const Attention &a, const Problem &p, const std::vector<uint16_t> &out) {
  double worst = 0;
  for (size_t i = 0; i < p.expected.size(); ++i) {
    double difference =
        std::fabs(a.wide(out[i]) - p.expected[i]) / std::max(1.0, std::fabs(p.expected[i]));
    worst = difference <= worst ? worst : difference; // a NaN stays
    if (difference != difference)
      return difference;
  }
  return worst;
}

} // namespace fovea::emulator::test

#endif // FOVEA_TEST_UNIT_EMULATOR_ATTENTION_H
