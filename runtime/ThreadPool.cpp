// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// See ThreadPool.h.
#include "runtime/ThreadPool.h"

#include "runtime/status/Status.h"

#include <algorithm>
#include <csignal>
#include <cstdio>
#include <pthread.h>
#include <sched.h>
#include <system_error>

namespace fovea {

static inline void pause() {
#if defined(__x86_64__)
  __builtin_ia32_pause();
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
    long long quota, period;
    if (std::fscanf(file, "%lld %lld", &quota, &period) == 2 && quota > 0 && period > 0)
      cores = static_cast<int>(std::min<long long>(cores, (quota + period - 1) / period));
    std::fclose(file);
  }
  return std::max(cores, 1);
}

void Signal::set(uint32_t next) {
  // Store and load must not pass each other, as in waitWhile(): either this
  // thread sees the sleeper or the sleeper sees the value.
  value.store(next, std::memory_order_seq_cst);
  if (sleepers.load(std::memory_order_seq_cst) > 0) {
    std::lock_guard<std::mutex> guard(lock);
    wake.notify_all();
  }
}

void Signal::waitWhile(uint32_t old) {
  for (int i = 0; i < spins; ++i) {
    if (value.load(std::memory_order_acquire) != old)
      return;
    pause();
  }
  std::unique_lock<std::mutex> guard(lock);
  sleepers.fetch_add(1, std::memory_order_seq_cst);
  while (value.load(std::memory_order_seq_cst) == old)
    wake.wait(guard);
  sleepers.fetch_sub(1, std::memory_order_relaxed);
}

void Barrier::wait() {
  uint32_t now = phase.get();
  if (arrived.fetch_add(1, std::memory_order_acq_rel) + 1 == count) {
    arrived.store(0, std::memory_order_relaxed);
    phase.set(now + 1);
  } else {
    phase.waitWhile(now);
  }
}

int spinsFor(int threads) { return threads <= availableCores() ? 2000 : 20; }

ThreadPool::ThreadPool(int threads)
    : count(threads), start(spinsFor(threads)), end(threads, spinsFor(threads)) {
  // Signals are for the host's threads.
  sigset_t all, before;
  ::sigfillset(&all);
  ::pthread_sigmask(SIG_SETMASK, &all, &before);
  try {
    for (int32_t i = 1; i < count; ++i)
      workers.emplace_back([this, i] { work(i); });
  } catch (const std::system_error &error) {
    ::pthread_sigmask(SIG_SETMASK, &before, nullptr);
    std::string message = "cannot start " + std::to_string(count) + " threads: " + error.what();
    stop();
    throw Failure{FOVEA_OUT_OF_MEMORY, message};
  }
  ::pthread_sigmask(SIG_SETMASK, &before, nullptr);
}

ThreadPool::~ThreadPool() { stop(); }

void ThreadPool::stop() {
  stopping = true;
  start.set(start.get() + 1);
  for (std::thread &worker : workers)
    worker.join();
}

void ThreadPool::run(fovea_body theBody, void *theData) {
  if (count == 1)
    return theBody(theData, 0);
  body = theBody;
  data = theData;
  start.set(start.get() + 1);
  theBody(theData, 0);
  end.wait();
}

void ThreadPool::work(int32_t index) {
  // The pool's first signal is 1; a thread that begins late still sees it.
  for (uint32_t seen = 0;; ++seen) {
    start.waitWhile(seen);
    if (stopping)
      return;
    body(data, index);
    end.wait();
  }
}

} // namespace fovea
