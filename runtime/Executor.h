// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// What runs a module's entries for a context: the threads of this machine, or a device. Memory that
// kernels read and write is the executor's; shapes, names and caches' lengths are not its business.
// One thread at a time uses an executor. Everything throws Failure.
#ifndef FOVEA_RUNTIME_EXECUTOR_H
#define FOVEA_RUNTIME_EXECUTOR_H

#include "runtime/Module.h"

#include <chrono>
#include <cstdint>
#include <memory>
#include <string>
#include <vector>

#include <sys/types.h>

namespace fovea {

using Clock = std::chrono::steady_clock;

/// Nanoseconds of this machine's clock.
inline int64_t nanoseconds(Clock::time_point time) {
  return std::chrono::duration_cast<std::chrono::nanoseconds>(time.time_since_epoch()).count();
}

/// When each thread ran which step. Room is reserved before steps run: they allocate nothing.
class Tracer {
public:
  explicit Tracer(int threads) : events(static_cast<size_t>(threads)) {}
  /// For `steps` steps and the call itself.
  void reserve(size_t steps);
  void add(const fovea_trace_event &event) {
    events[static_cast<size_t>(event.thread)].push_back(event);
  }
  /// A thread's parts of one step are one event. `begin`: of the call.
  void addPart(const fovea_trace_event &event, int64_t begin);
  /// Of all threads, one behind the other.
  const std::vector<fovea_trace_event> &all();

private:
  std::vector<std::vector<fovea_trace_event>> events;
  std::vector<fovea_trace_event> joined;
};

/// The memory of a cache, which only grows.
class CacheMemory {
public:
  virtual ~CacheMemory() = default;
  virtual uint64_t size() const = 0;
  /// Makes it `bytes` long and all zero; `what` is for messages.
  virtual void grow(uint64_t bytes, const std::string &what) = 0;
  virtual void zero(uint64_t offset, uint64_t bytes) = 0;
  /// Copies from memory of the same executor, which may be this; the two ranges do not overlap.
  virtual void copyFrom(const CacheMemory &from, uint64_t fromOffset, uint64_t offset,
                        uint64_t bytes) = 0;
  /// Copies to this machine's memory and from there, and returns when that is done.
  virtual void read(void *to, uint64_t offset, uint64_t bytes) const = 0;
  virtual void write(const void *from, uint64_t offset, uint64_t bytes) = 0;
  /// As kernels see it.
  virtual void *address() const = 0;
};

/// How an entry's steps are run.
struct RunOptions {
  /// Seconds of each step, added to; null: not measured.
  double *stepSeconds = nullptr;
  /// How often, on the same arguments and caches.
  int64_t runs = 1;
  /// Seconds of all runs, by a device's clock if there is one; null: not measured. A device then
  /// runs the steps as one, and neither measures nor traces each.
  double *seconds = nullptr;
  /// False, if results stay: need not wait for the steps. Faults are told by Invocation::wait().
  bool waits = true;
};

/// One entry with memory for its arguments and results. Must not outlive its executor.
class Invocation {
public:
  virtual ~Invocation() = default;
  /// How many numbers `plan` writes.
  virtual size_t locals() const = 0;
  virtual void plan(const int64_t *sizes, int64_t *locals) const = 0;
  /// Where kernels read an argument whose `bytes` bytes are at `data`, until run() has returned.
  /// `isThere`: in the memory of the executor's device.
  virtual void *bind(size_t argument, const void *data, uint64_t bytes, bool isThere) = 0;
  /// Gives the tensors among the results memory of these bytes, and `addresses` where kernels write
  /// each; what they held is lost. `stay`: they are not fetched.
  virtual void prepare(const std::vector<uint64_t> &bytes, bool stay, void **addresses) = 0;
  /// Runs all steps and waits for them. `buffers` and `locals` are the frame's. Returns 0, or 1 +
  /// the step that met an index or a size out of bounds.
  virtual int64_t run(void *const *buffers, const int64_t *locals, const RunOptions &options) = 0;
  /// Waits for runs that did not wait. Returns what they would have.
  virtual int64_t wait() { return 0; }
  /// From the next run on only this result is likely to be asked for.
  virtual void fetchOnly(size_t /*result*/) {}
  /// A result's bytes in this machine's memory, until the next prepare(); of a run whose results do
  /// not stay.
  virtual void *fetch(size_t result) = 0;
};

class CallerMemory;

class Executor {
public:
  using Steps = std::vector<std::unique_ptr<manifest::StepT>>;

  virtual ~Executor() = default;
  Executor(const Executor &) = delete;

  const Module &module() const { return *theModule; }
  /// Threads of this machine.
  int threads() const { return threadCount; }
  /// In messages: "the CPU", "CUDA device 0 (NVIDIA H200)".
  virtual const std::string &name() const = 0;
  /// The steps of an entry as they are run here, and the kernel of one.
  virtual const Steps &steps(size_t entry) const = 0;
  virtual const manifest::KernelT &kernel(const manifest::StepT &step) const = 0;
  virtual std::unique_ptr<Invocation> invoke(size_t entry) = 0;
  virtual std::unique_ptr<CacheMemory> makeCache() = 0;
  /// Copies `bytes` bytes within a device's memory, `runs` times. Returns seconds.
  virtual double measureCopy(uint64_t bytes, int64_t runs) = 0;
  /// The device that tensors in its memory name.
  virtual fovea_device number() const { return {FOVEA_CPU, 0}; }
  /// Memory of the device that is the caller's. Throws Failure on the CPU.
  virtual CallerMemory &callerMemory();
  /// Between the two all work is done on the caller's stream. Throws Failure if there are none.
  virtual void enter(void *stream);
  virtual void leave() noexcept {}
  /// What was recorded so far. Throws Failure if nothing is.
  const std::vector<fovea_trace_event> &trace();

protected:
  Executor(std::shared_ptr<const Module> module, int threads, bool traced);
  /// Whether this is the process that made it, not one that was forked off.
  bool isOwner() const;
  /// Throws Failure in a process that was forked off, where `lost` is not there.
  void requireOwner(const std::string &lost) const;
  fovea_trace_event eventOf(size_t entry) const;

  std::shared_ptr<const Module> theModule;
  const int threadCount;
  std::unique_ptr<Tracer> tracer; ///< null: nothing is traced

private:
  const pid_t owner;
};

/// Keeps an executor on the caller's stream while it lives; null: where it is.
class OnStream {
public:
  OnStream(Executor &executor, void *stream) : entered(stream ? &executor : nullptr) {
    if (entered)
      entered->enter(stream);
  }
  ~OnStream() {
    if (entered)
      entered->leave();
  }
  OnStream(const OnStream &) = delete;
  OnStream &operator=(const OnStream &) = delete;

private:
  Executor *entered;
};

/// What the options ask for: a host's threads, threads of its own, or a device.
std::unique_ptr<Executor> makeExecutor(std::shared_ptr<const Module> module,
                                       const fovea_context_options &options);

} // namespace fovea

#endif // FOVEA_RUNTIME_EXECUTOR_H
