// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// See DirectedYield.h. Linux has no call for it, but moves a thread at once when the cores on which
// it may run no longer include its own; that is taken back at once.
#include "runtime/DirectedYield.h"

#include <chrono>
#include <pthread.h>
#include <sched.h>
#include <unistd.h>

namespace fovea {

DirectedYield::DirectedYield(int threads)
    : count(threads), all(std::make_unique<Thread[]>(static_cast<size_t>(threads))) {}

void DirectedYield::enter(int32_t thread) {
  Thread &own = at(thread);
  // Not by its pthread_t, which the next thread of another id may have.
  const pid_t id = ::gettid();
  clockid_t clock;
  if (own.id.load(std::memory_order_relaxed) == id ||
      ::pthread_getcpuclockid(::pthread_self(), &clock) != 0)
    return;
  own.clock.store(clock, std::memory_order_relaxed);
  own.id.store(id, std::memory_order_release);
}

/// Nanoseconds; negative if the thread is not there.
static int64_t read(clockid_t clock) {
  timespec time{};
  if (::clock_gettime(clock, &time) != 0)
    return -1;
  return int64_t(time.tv_sec) * 1000000000 + time.tv_nsec;
}

/// Whether a thread has no core all the while.
static bool isWaiting(clockid_t clock) {
  const int64_t before = read(clock);
  auto end = std::chrono::steady_clock::now() + std::chrono::microseconds(20);
  while (std::chrono::steady_clock::now() < end) {
  }
  return before >= 0 && read(clock) == before;
}

/// The cores on which a thread may run; 0 is the calling one. False if the system does not tell.
static bool readCores(pid_t thread, cpu_set_t &cores) {
  return ::sched_getaffinity(thread, sizeof(cores), &cores) == 0;
}

static bool writeCores(pid_t thread, const cpu_set_t &cores) {
  return ::sched_setaffinity(thread, sizeof(cores), &cores) == 0;
}

/// Moves a thread to the calling one's core. Returns that, or -1 if it may not run there.
static int bring(pid_t thread) {
  cpu_set_t mine, theirs, here;
  const int core = ::sched_getcpu();
  if (core < 0 || core >= CPU_SETSIZE || !readCores(0, mine) || !readCores(thread, theirs) ||
      CPU_COUNT(&mine) < 2 || !CPU_ISSET(core, &theirs))
    return -1;
  CPU_ZERO(&here);
  CPU_SET(core, &here);
  if (!writeCores(thread, here))
    return -1;
  writeCores(thread, theirs);
  return core;
}

int DirectedYield::bringWaiting(int32_t thread) {
  if (isRefused.load(std::memory_order_relaxed) ||
      isLooking.test_and_set(std::memory_order_acquire))
    return -1;
  int core = -1;
  for (int32_t i = 0; i < count && core < 0; ++i) {
    const Thread &other = at(i);
    const pid_t id = other.id.load(std::memory_order_acquire);
    auto isBusy = [&] { return other.isBusy.load(std::memory_order_relaxed); };
    if (i == thread || id == 0 || !isBusy() ||
        !isWaiting(other.clock.load(std::memory_order_relaxed)) || !isBusy())
      continue;
    core = bring(id);
    if (core < 0) {
      isRefused.store(true, std::memory_order_relaxed);
      break;
    }
  }
  isLooking.clear(std::memory_order_release);
  return core;
}

void DirectedYield::leave(int core) {
  cpu_set_t mine;
  if (::sched_getcpu() != core || !readCores(0, mine) || CPU_COUNT(&mine) < 2)
    return;
  cpu_set_t others = mine;
  CPU_CLR(core, &others);
  if (writeCores(0, others))
    writeCores(0, mine);
}

} // namespace fovea
