// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Threads of the runtime's own that share work with the thread that calls.
#ifndef FOVEA_RUNTIME_THREADPOOL_H
#define FOVEA_RUNTIME_THREADPOOL_H

#include "runtime/WorkSharing.h"

#include <thread>
#include <vector>

namespace fovea {

class ThreadPool {
public:
  /// `threads` counts the calling thread, which is number 0; throws Failure if the system gives
  /// none.
  explicit ThreadPool(int threads);
  ~ThreadPool();
  ThreadPool(const ThreadPool &) = delete;
  ThreadPool &operator=(const ThreadPool &) = delete;

  int threads() const { return sharing.threads(); }
  /// Returns when all is done.
  void run(const Work &work);

private:
  void stop();

  WorkSharing sharing;
  std::vector<std::thread> workers;
};

} // namespace fovea

#endif // FOVEA_RUNTIME_THREADPOOL_H
