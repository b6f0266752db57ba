// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// See Signal.h.
#include "runtime/Signal.h"

#include <algorithm>
#include <cstdio>
#include <cstdlib>
#include <sched.h>
#include <thread>

namespace fovea {

/// A pause takes 20 to 60 ns.
static constexpr int kMostSpins = 2000, kLeastSpins = 20;
/// A wait beyond this is for a thread that has no core.
static constexpr std::chrono::microseconds kLong(150);

static inline void pause() {
#if defined(__x86_64__)
  __builtin_ia32_pause();
#elif defined(__aarch64__)
  __asm__ volatile("isb"); // `yield` takes no time on most
#endif
}

int availableCores() {
  int cores = static_cast<int>(std::thread::hardware_concurrency());
  cpu_set_t set;
  if (::sched_getaffinity(0, sizeof(set), &set) == 0)
    cores = CPU_COUNT(&set);
  // A container's share of CPU time: "max 100000" or "200000 100000" (microseconds
  // in each period; Linux, cgroup-v2.rst).
  if (FILE *file = std::fopen("/sys/fs/cgroup/cpu.max", "re")) {
    char text[64] = "", *end = text;
    if (std::fgets(text, sizeof(text), file)) {
      long long quota = std::strtoll(text, &end, 10), period = std::strtoll(end, nullptr, 10);
      if (quota > 0 && period > 0)
        cores = static_cast<int>(std::min<long long>(cores, (quota + period - 1) / period));
    }
    std::fclose(file);
  }
  return std::max(cores, 1);
}

Signal::Signal(int threads)
    : mostSpins(threads <= availableCores() ? kMostSpins : kLeastSpins), spins(mostSpins) {}

void Signal::notify() {
  // This and a sleeper's look must not pass each other: either this thread sees the sleeper or the
  // sleeper sees the value.
  value.fetch_add(1, std::memory_order_seq_cst);
  if (sleepers.load(std::memory_order_seq_cst) > 0) {
    std::lock_guard<std::mutex> guard(lock);
    wake.notify_all();
  }
}

bool Signal::spinWhile(uint32_t old, bool adapts) {
  const int most = spins.load(std::memory_order_relaxed);
  for (int i = 0; i < most; ++i) {
    if (value.load(std::memory_order_acquire) != old) {
      if (adapts && most < mostSpins)
        spins.store(std::min(2 * most, mostSpins), std::memory_order_relaxed);
      return true;
    }
    pause();
  }
  return false;
}

void Signal::sleepWhile(uint32_t old, bool adapts) {
  auto begin = std::chrono::steady_clock::now();
  {
    std::unique_lock<std::mutex> guard(lock);
    sleepers.fetch_add(1, std::memory_order_seq_cst);
    while (value.load(std::memory_order_seq_cst) == old)
      wake.wait(guard);
    sleepers.fetch_sub(1, std::memory_order_relaxed);
  }
  if (!adapts)
    return;
  const int most = spins.load(std::memory_order_relaxed);
  const bool isLong = std::chrono::steady_clock::now() - begin > kLong;
  spins.store(isLong ? std::max(most / 2, kLeastSpins) : std::min(2 * most, mostSpins),
              std::memory_order_relaxed);
}

void Signal::sleepFor(std::chrono::nanoseconds time, uint32_t old) {
  std::unique_lock<std::mutex> guard(lock);
  sleepers.fetch_add(1, std::memory_order_seq_cst);
  wake.wait_for(guard, time, [&] { return value.load(std::memory_order_seq_cst) != old; });
  sleepers.fetch_sub(1, std::memory_order_relaxed);
}

} // namespace fovea
