// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// What threads wait for: first spinning, then asleep.
#ifndef FOVEA_RUNTIME_SIGNAL_H
#define FOVEA_RUNTIME_SIGNAL_H

#include <atomic>
#include <chrono>
#include <condition_variable>
#include <cstdint>
#include <mutex>

namespace fovea {

/// Cores that this process may use: its affinity mask and its control group's share. At least 1.
int availableCores();

/// A count that threads wait for to change. Who waits spins for some 50 us at most, half as long
/// after each wait that took much longer, since a thread that was taken off its core does not come
/// back sooner for it, and twice as long after each that did not.
class Signal {
public:
  /// For `threads` threads in all. If not each has a core, waiting threads sleep soon.
  explicit Signal(int threads);
  uint32_t get() const { return value.load(std::memory_order_acquire); }
  /// Changes the value.
  void notify();
  /// Spins. Returns whether the value is another than `old` by then. `adapts`: how long to spin
  /// follows from how long it takes, here and in sleepWhile().
  bool spinWhile(uint32_t old, bool adapts = true);
  /// Returns once the value is another than `old`.
  void sleepWhile(uint32_t old, bool adapts = true);
  /// Returns once the value is another than `old` or so much time has passed.
  void sleepFor(std::chrono::nanoseconds time, uint32_t old);

private:
  const int mostSpins;
  std::atomic<int> spins;
  std::atomic<uint32_t> value{0};
  std::atomic<int> sleepers{0};
  std::mutex lock;
  std::condition_variable wake;
};

} // namespace fovea

#endif // FOVEA_RUNTIME_SIGNAL_H
