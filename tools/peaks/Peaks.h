// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// What this machine can do, measured: the limits that reports compare with; uses the
// widest vectors that processor and system offer.
#ifndef FOVEA_TOOLS_PEAKS_PEAKS_H
#define FOVEA_TOOLS_PEAKS_PEAKS_H

#include <memory>
#include <string>
#include <vector>

namespace fovea {

/// The processor's name for itself, as the system tells it.
std::string processorName();

/// Samples the two limits of `threads` threads. What is asked between samples of
/// the work that is compared with them has the same clock and the same neighbours.
class Peaks {
public:
  /// Takes some 256 MB of memory until freed. Throws std::bad_alloc.
  explicit Peaks(int threads);
  ~Peaks();
  Peaks(const Peaks &) = delete;
  Peaks &operator=(const Peaks &) = delete;

  /// One sample of both limits.
  struct Sample {
    double flops, bandwidth;
  };
  /// One more sample, some 50 ms; also gives it.
  Sample sample();

  /// Medians of the samples; 0 without one.
  double flops() const;     ///< f32 multiply-adds in registers, operations a second, each two
  double bandwidth() const; ///< bytes a second read from memory, eight streams a thread
  /// "avx512", "avx2", "sse" or "neon": the vectors that `flops` was measured with.
  static const char *level();

private:
  struct Memory;
  int threads;
  std::unique_ptr<Memory> memory;
  std::vector<double> flopSamples, byteSamples;
};

} // namespace fovea

#endif // FOVEA_TOOLS_PEAKS_PEAKS_H
