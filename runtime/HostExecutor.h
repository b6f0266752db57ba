// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Runs entries on threads of this machine: a pool of its own, or those of the host program.
#ifndef FOVEA_RUNTIME_HOSTEXECUTOR_H
#define FOVEA_RUNTIME_HOSTEXECUTOR_H

#include "runtime/Executor.h"
#include "runtime/Memory.h"
#include "runtime/ThreadPool.h"

namespace fovea {

class HostExecutor : public Executor {
public:
  HostExecutor(std::shared_ptr<const Module> module, int threads, bool traced);
  /// `host` is checked.
  HostExecutor(std::shared_ptr<const Module> module, const fovea_threading &host, bool traced);
  /// In a process that was forked off, what other threads may hold is left alone.
  ~HostExecutor() override;

  const std::string &name() const override;
  const Steps &steps(size_t entry) const override;
  const manifest::KernelT &kernel(const manifest::StepT &step) const override;
  std::unique_ptr<Invocation> invoke(size_t entry) override;
  std::unique_ptr<CacheMemory> makeCache() override;
  double measureCopy(uint64_t bytes, int64_t runs) override;

  /// Runs an entry's steps on all threads, each behind the one before it. `frame` has all but arena
  /// and weights.
  void run(size_t entry, fovea_frame frame, const RunOptions &options);

private:
  void runOnce(size_t entry, const fovea_frame &frame, double *stepSeconds);

  // Null: the host's threads, which share work as the pool's do or are given single steps.
  std::unique_ptr<ThreadPool> pool;
  std::unique_ptr<WorkSharing> sharing;
  fovea_threading host{};
  Buffer arena;
};

} // namespace fovea

#endif // FOVEA_RUNTIME_HOSTEXECUTOR_H
