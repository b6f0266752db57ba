// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Runs entries on a device: the host describes launches, the device does them. Arguments are copied
// there and results back, unless they are there or stay.
#ifndef FOVEA_RUNTIME_DEVICEEXECUTOR_H
#define FOVEA_RUNTIME_DEVICEEXECUTOR_H

#include "runtime/CallerMemory.h"
#include "runtime/DeviceResults.h"
#include "runtime/Executor.h"
#include "runtime/LoadedProgram.h"

namespace fovea {

class DeviceExecutor : public Executor {
public:
  /// `threads` of this machine lay weights out, and are the emulator's.
  DeviceExecutor(std::shared_ptr<const Module> module, std::unique_ptr<Device> device, int threads,
                 bool traced);

  const std::string &name() const override { return device().name(); }
  const Steps &steps(size_t entry) const override;
  const manifest::KernelT &kernel(const manifest::StepT &step) const override;
  std::unique_ptr<Invocation> invoke(size_t entry) override;
  std::unique_ptr<CacheMemory> makeCache() override;
  double measureCopy(uint64_t bytes, int64_t runs) override;
  fovea_device number() const override { return device().number(); }
  CallerMemory &callerMemory() override;
  void enter(void *stream) override;
  void leave() noexcept override { device().leave(); }

  Device &device() const { return program.device(); }
  LoadedProgram &loaded() { return program; }
  /// Runs an entry's steps as one by `graph`, which is the caller's and for this entry; each on its
  /// own if it is measured or traced, and waits then. `frame` has all but arena, weights and fault.
  int64_t run(size_t entry, fovea_frame frame, const RunOptions &options, DeviceGraph &graph,
              DeviceResults &results);

private:
  void requireHere() const { requireOwner("device cannot be used"); }
  void traceSteps(size_t entry, int64_t begin, int64_t end);

  LoadedProgram program; ///< with the device, so before all memory on it
  DeviceBuffer arena;
  CallerMemory callers;
  /// The begin of a run, and the end of each step.
  std::vector<std::unique_ptr<DeviceEvent>> events;
};

} // namespace fovea

#endif // FOVEA_RUNTIME_DEVICEEXECUTOR_H
