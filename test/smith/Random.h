// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Numbers that depend on a seed alone: the standard library's distributions differ between
// machines.
#ifndef FOVEA_TEST_SMITH_RANDOM_H
#define FOVEA_TEST_SMITH_RANDOM_H

#include <cstdint>
#include <string_view>

namespace fovea::smith {

/// SplitMix64 (Steele, Lea, Flood 2014).
class Random {
public:
  explicit Random(uint64_t seed) : state(seed) {}
  /// A stream of its own for each purpose, so that taking less from one leaves the others alone.
  Random(uint64_t seed, std::string_view purpose) : state(seed) {
    for (char c : purpose)
      state = (state ^ static_cast<unsigned char>(c)) * 0x100000001b3ull;
    next();
  }

  uint64_t next() {
    uint64_t z = state += 0x9e3779b97f4a7c15ull;
    z = (z ^ (z >> 30)) * 0xbf58476d1ce4e5b9ull;
    z = (z ^ (z >> 27)) * 0x94d049bb133111ebull;
    return z ^ (z >> 31);
  }
  /// 0 to n - 1.
  int below(int n) { return static_cast<int>(next() % static_cast<uint64_t>(n)); }
  bool percent(int p) { return below(100) < p; }
  /// 0 to 1, 53 bits.
  double unit() { return static_cast<double>(next() >> 11) * 0x1p-53; }
  /// Mean 0, deviation 1: a sum of twelve uniform numbers, exact on every machine.
  double normal() {
    double sum = -6;
    for (int i = 0; i < 12; ++i)
      sum += unit();
    return sum;
  }

private:
  uint64_t state;
};

} // namespace fovea::smith

#endif // FOVEA_TEST_SMITH_RANDOM_H
