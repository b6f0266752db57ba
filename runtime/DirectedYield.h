// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Directed yield: a thread that waits for another, which the system has taken off its core, gives
// it its own. Hypervisors do so for virtual processors that hold a lock (Linux, kvm_vcpu_on_spin).
#ifndef FOVEA_RUNTIME_DIRECTEDYIELD_H
#define FOVEA_RUNTIME_DIRECTEDYIELD_H

#include <atomic>
#include <cstdint>
#include <ctime>
#include <memory>

#include <sys/types.h>

namespace fovea {

/// Threads of this process, by number, that wait for each other's work.
class DirectedYield {
public:
  explicit DirectedYield(int threads);

  /// The calling thread has this number from now on.
  void enter(int32_t thread);
  /// Others wait for the calling thread, or do so no longer.
  void begin(int32_t thread) { at(thread).isBusy.store(true, std::memory_order_relaxed); }
  void end(int32_t thread) { at(thread).isBusy.store(false, std::memory_order_relaxed); }
  /// Looks for some 20 us whether a thread that is busy is without a core. If there is one, it runs
  /// on the calling thread's as soon as that sleeps. Returns that core, or -1 if none is brought.
  int bringWaiting(int32_t thread);
  /// Moves the calling thread to another core, if it is on this one. It may come back.
  static void leave(int core);

private:
  struct alignas(64) Thread {
    std::atomic<bool> isBusy{false};
    std::atomic<pid_t> id{0};        ///< 0: not known
    std::atomic<clockid_t> clock{0}; ///< of the time that it has had a core
  };
  Thread &at(int32_t thread) { return all[static_cast<size_t>(thread)]; }

  const int count;
  std::unique_ptr<Thread[]> all;
  std::atomic_flag isLooking = ATOMIC_FLAG_INIT;
  std::atomic<bool> isRefused{false}; ///< by the system
};

} // namespace fovea

#endif // FOVEA_RUNTIME_DIRECTEDYIELD_H
