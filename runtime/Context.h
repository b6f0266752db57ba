// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// What a use of a module needs: threads or a device, arena, caches. One thread at a time.
#ifndef FOVEA_RUNTIME_CONTEXT_H
#define FOVEA_RUNTIME_CONTEXT_H

#include "runtime/DeviceResults.h"
#include "runtime/Memory.h"
#include "runtime/Module.h"
#include "runtime/OnDevice.h"
#include "runtime/ThreadPool.h"

#include <memory>
#include <optional>
#include <string>
#include <vector>

namespace fovea {

/// A key or value cache, [batch, heads, capacity, size] in memory; rows of one
/// length. Memory is zero when it is new, and what was held is zeroed on a reset.
struct Cache {
  std::string name;
  int64_t heads = 0, size = 0;
  uint64_t elementBytes = 0;
  int64_t batch = 0, length = 0;
  Pages memory;
  /// In place of it, for a context on a device, and its bytes.
  DeviceBuffer onDevice;
  uint64_t bytesOnDevice = 0;
};

class Context {
public:
  /// Throws Failure.
  Context(std::shared_ptr<const Module> module, const fovea_context_options &options);
  /// In a process that was forked off, what other threads may hold is left alone.
  ~Context();

  const Module &module() const { return *theModule; }
  int threads() const { return threadCount; }
  int64_t capacity() const { return cacheCapacity; }
  /// Of the longest cache.
  int64_t length() const;
  bool profiled() const { return profile; }

  /// Null if the context runs on the CPU.
  OnDevice *onDevice() const { return device.get(); }
  /// The steps of an entry as this context runs them, and the kernel of one.
  const std::vector<std::unique_ptr<manifest::StepT>> &steps(size_t entry) const;
  const manifest::KernelT &kernel(const manifest::StepT &step) const;

  /// Empties the caches: lengths to 0, what was written to zero.
  void reset();

  /// The cache that `value` names.
  Cache &cache(const manifest::ValueT &value);
  /// Gives `cache` memory for `batch` rows. Throws Failure if it holds
  /// positions of another number of rows.
  void prepare(Cache &cache, int64_t batch);

  /// Runs steps 0 to `steps` - 1 of `step` on all threads, each step after the
  /// one before it. `seconds`, if not null, is one number a step, added to. `entry` is the
  /// entry's number, for the trace.
  void runSteps(fovea_step_fn step, const fovea_frame &frame, int64_t steps, double *seconds,
                size_t entry);

  /// How often to run steps, and the seconds that all of it took. Such runs are not traced.
  struct Repeated {
    int64_t runs;
    double seconds;
  };

  /// The same on the device, which brings `results`; `frame` has all but arena, weights and fault.
  /// All steps are run as one by `graph`, which is the caller's and for this entry; each on its own
  /// if it is timed or traced. `repeated` may be null: once. Returns 0, or 1 + the step that met an
  /// index or a size out of bounds.
  int64_t runOnDevice(fovea_frame frame, uint64_t arenaBytes, double *seconds, size_t entry,
                      Repeated *repeated, DeviceGraph &graph, DeviceResults &results);

  /// Copies `bytes` bytes within the device's memory, `runs` times. Returns seconds. Throws Failure
  /// on the CPU.
  double copyOnDevice(uint64_t bytes, int64_t runs);

  /// What was recorded so far. Throws Failure if the context does not trace.
  const std::vector<fovea_trace_event> &trace();

  Buffer arena;

private:
  /// Throws Failure in a process that was forked off: its threads are not there, nor its device.
  void requireOwner() const;
  void zeroUsed(Cache &cache);
  void reserveEvents(size_t steps);
  void traceOnDevice(size_t entry, int64_t begin, int64_t end);

  const pid_t owner; ///< the process that made it
  std::shared_ptr<const Module> theModule;
  std::unique_ptr<OnDevice> device; ///< goes after all memory on it
  DeviceBuffer arenaOnDevice;
  /// The begin of a run, and the end of each step.
  std::vector<std::unique_ptr<DeviceEvent>> marks;
  int threadCount = 1;
  int64_t cacheCapacity;
  bool profile;
  bool traced;
  /// By thread, the calling one first; `allEvents` is the answer to `trace`.
  std::vector<std::vector<fovea_trace_event>> events;
  std::vector<fovea_trace_event> allEvents;
  bool hosted = false;
  fovea_threading host{};
  std::unique_ptr<ThreadPool> pool;
  std::unique_ptr<Barrier> barrier;
  std::vector<Cache> caches;
};

} // namespace fovea

struct fovea_context {
  fovea::Context context;
};

#endif // FOVEA_RUNTIME_CONTEXT_H
