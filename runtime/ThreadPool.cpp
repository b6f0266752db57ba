// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// See ThreadPool.h.
#include "runtime/ThreadPool.h"

#include "runtime/status/Status.h"

#include <csignal>
#include <pthread.h>
#include <string>
#include <system_error>

namespace fovea {

ThreadPool::ThreadPool(int threads) : sharing(threads) {
  // Signals are for the host's threads.
  sigset_t all, before;
  ::sigfillset(&all);
  ::pthread_sigmask(SIG_SETMASK, &all, &before);
  try {
    for (int32_t i = 1; i < threads; ++i)
      workers.emplace_back([this, i] { sharing.serve(i); });
  } catch (const std::system_error &error) {
    ::pthread_sigmask(SIG_SETMASK, &before, nullptr);
    std::string message = "cannot start " + std::to_string(threads) + " threads: " + error.what();
    stop();
    throw Failure{FOVEA_OUT_OF_MEMORY, message};
  }
  ::pthread_sigmask(SIG_SETMASK, &before, nullptr);
}

ThreadPool::~ThreadPool() { stop(); }

void ThreadPool::stop() {
  sharing.stop();
  for (std::thread &worker : workers)
    worker.join();
}

void ThreadPool::run(const Work &work) {
  if (sharing.begin(work, 0))
    sharing.finish(0);
}

} // namespace fovea
