// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Sound at another rate. Rates are a fraction of small numbers mostly, so that the same few rows of
// factors come again and again and are kept. (Debian has libraries for this as shared objects only,
// and fovea-run links none but the C++ library's.)
#include "tools/verbs/Sound.h"

#include <algorithm>
#include <cmath>
#include <numeric>
#include <unordered_map>

namespace fovea::verbs {

namespace {

/// Zeros of the sinc on each side, and the window's shape: what folds back is 100 dB less.
constexpr double zeros = 64, beta = 10;
/// Of the lower rate's half, where the sinc cuts.
constexpr double cut = 0.95;
/// Factors that are kept: 32 MB.
constexpr size_t maxKept = size_t(1) << 23;

/// The modified Bessel function of the first kind and order zero.
double bessel(double x) {
  double term = 1, sum = 1;
  for (int k = 1; term > 1e-17 * sum; ++k) {
    term *= (x / 2 / k) * (x / 2 / k);
    sum += term;
  }
  return sum;
}

double kernel(double x) {
  if (std::fabs(x) >= zeros)
    return 0;
  double angle = M_PI * cut * x, sinc = angle == 0 ? 1 : std::sin(angle) / angle;
  double part = x / zeros;
  return cut * sinc * bessel(beta * std::sqrt(1 - part * part)) / bessel(beta);
}

class Resampler {
public:
  Resampler(int64_t from, int64_t to)
      : from(from), to(to), scale(std::min(1.0, double(to) / double(from))),
        reach(static_cast<int64_t>(std::ceil(zeros / scale))) {}

  Sound run(const Sound &sound) {
    auto size = static_cast<int64_t>(sound.samples.size());
    Sound result;
    result.rate = to;
    result.samples.resize(static_cast<size_t>((size * to + from - 1) / from));
    for (size_t i = 0; i < result.samples.size(); ++i) {
      int64_t place = static_cast<int64_t>(i) * from, whole = place / to;
      const std::vector<float> &row = factors(place % to);
      int64_t first = whole - reach + 1; // of the row
      int64_t begin = std::max<int64_t>(first, 0), end = std::min(first + 2 * reach, size);
      double sum = 0;
      for (int64_t n = begin; n < end; ++n)
        sum += double(row[static_cast<size_t>(n - first)]) * sound.samples[static_cast<size_t>(n)];
      result.samples[i] = static_cast<float>(sum);
    }
    return result;
  }

private:
  /// Of the samples around a place that is `phase / to` behind one of them.
  const std::vector<float> &factors(int64_t phase) {
    auto [found, isNew] = rows.try_emplace(phase);
    if (!isNew)
      return found->second;
    if (rows.size() * static_cast<size_t>(2 * reach) > maxKept) {
      rows.clear();
      found = rows.try_emplace(phase).first;
    }
    for (int64_t n = 1 - reach; n <= reach; ++n)
      found->second.push_back(
          static_cast<float>(scale * kernel(scale * (double(phase) / double(to) - double(n)))));
    return found->second;
  }

  const int64_t from, to;
  const double scale;
  const int64_t reach;
  std::unordered_map<int64_t, std::vector<float>> rows;
};

} // namespace

Sound resample(const Sound &sound, int64_t rate) {
  if (sound.rate == rate)
    return sound;
  int64_t common = std::gcd(sound.rate, rate);
  Sound result = Resampler(sound.rate / common, rate / common).run(sound);
  result.rate = rate;
  return result;
}

} // namespace fovea::verbs
