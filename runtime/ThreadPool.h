// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Threads that run one body together and wait for each other: a barrier, and a
// pool whose waiting threads spin for a while and then sleep. The partition of
// work is static: body i is always the same part.
#ifndef FOVEA_RUNTIME_THREADPOOL_H
#define FOVEA_RUNTIME_THREADPOOL_H

#include "runtime/include/fovea/runtime.h"

#include <atomic>
#include <condition_variable>
#include <cstdint>
#include <mutex>
#include <thread>
#include <vector>

namespace fovea {

/// Cores that this process may use: its affinity mask and its control group's
/// share. At least 1.
int availableCores();

/// A number that threads wait for to change: first spinning, then asleep.
class Signal {
public:
  /// `spins`: how often to look before sleeping.
  explicit Signal(int spins) : spins(spins) {}
  uint32_t get() const { return value.load(std::memory_order_acquire); }
  void set(uint32_t next);
  /// Returns once the value is another than `old`.
  void waitWhile(uint32_t old);

private:
  const int spins;
  std::atomic<uint32_t> value{0};
  std::atomic<int> sleepers{0};
  std::mutex lock;
  std::condition_variable wake;
};

/// `count` threads wait until all have come; may be used again at once. What a
/// thread wrote before it, all see after it.
class Barrier {
public:
  Barrier(int count, int spins) : count(count), phase(spins) {}
  void wait();

private:
  const int count;
  alignas(64) std::atomic<int> arrived{0};
  alignas(64) Signal phase;
};

/// How long waiting threads spin (some 50 us) when `threads` have a core each;
/// else they sleep soon, to leave the core to those they wait for.
int spinsFor(int threads);

class ThreadPool {
public:
  /// `threads` counts the calling thread; throws Failure if the system gives none.
  explicit ThreadPool(int threads);
  ~ThreadPool();
  ThreadPool(const ThreadPool &) = delete;
  ThreadPool &operator=(const ThreadPool &) = delete;

  int threads() const { return count; }
  /// body(data, i) for all i from 0 to threads() - 1 at the same time; 0 is the
  /// calling thread.
  void run(fovea_body body, void *data);

private:
  void work(int32_t index);
  void stop();

  const int count;
  Signal start;
  Barrier end;
  fovea_body body = nullptr;
  void *data = nullptr;
  bool stopping = false;
  std::vector<std::thread> workers;
};

} // namespace fovea

#endif // FOVEA_RUNTIME_THREADPOOL_H
