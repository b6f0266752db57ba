// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// See HostExecutor.h. Arguments are read and results written where they are.
#include "runtime/HostExecutor.h"

#include "runtime/status/Status.h"

#include <algorithm>
#include <cstring>

namespace fovea {

namespace {

class HostCache : public CacheMemory {
public:
  uint64_t size() const override { return pages.size(); }
  void grow(uint64_t bytes, const std::string &what) override { pages.ensure(bytes, what); }
  void zero(uint64_t offset, uint64_t bytes) override {
    std::memset(static_cast<char *>(pages.get()) + offset, 0, bytes);
  }
  void copyFrom(const CacheMemory &from, uint64_t fromOffset, uint64_t offset,
                uint64_t bytes) override {
    std::memcpy(static_cast<char *>(pages.get()) + offset,
                static_cast<const char *>(from.address()) + fromOffset, bytes);
  }
  void read(void *to, uint64_t offset, uint64_t bytes) const override {
    std::memcpy(to, static_cast<const char *>(pages.get()) + offset, bytes);
  }
  void write(const void *from, uint64_t offset, uint64_t bytes) override {
    std::memcpy(static_cast<char *>(pages.get()) + offset, from, bytes);
  }
  void *address() const override { return pages.get(); }

private:
  Pages pages;
};

class HostInvocation : public Invocation {
public:
  HostInvocation(HostExecutor &executor, size_t entry)
      : executor(executor), number(entry), entry(executor.module().entries()[entry]),
        results(this->entry.description->results.size()) {}

  size_t locals() const override { return entry.description->locals; }
  void plan(const int64_t *sizes, int64_t *locals) const override { entry.plan(sizes, locals); }
  void *bind(size_t /*argument*/, const void *data, uint64_t /*bytes*/, bool /*isThere*/) override {
    return const_cast<void *>(data);
  }
  void prepare(const std::vector<uint64_t> &bytes, bool /*stay*/, void **addresses) override {
    for (size_t i = 0; i < results.size(); ++i)
      if (entry.description->results[i]->kind == manifest::ValueKind::Tensor)
        addresses[i] = results[i].ensure(bytes[i], "a result");
  }
  int64_t run(void *const *buffers, const int64_t *locals, const RunOptions &options) override {
    int64_t fault = 0;
    executor.run(number, {nullptr, nullptr, buffers, locals, &fault}, options);
    return fault;
  }
  void *fetch(size_t result) override { return results[result].get(); }

private:
  HostExecutor &executor;
  const size_t number;
  const Entry &entry;
  std::vector<Buffer> results;
};

/// One run of an entry, as all threads see it.
struct Run {
  fovea_step_fn step;
  const fovea_frame *frame;
  const Executor::Steps &steps;
  int64_t threads;
  Tracer *tracer; ///< null: nothing is traced. Has room for all of this run.
  fovea_trace_event event;
  double *seconds; ///< null: not measured
  Clock::time_point before;
  WorkSharing *sharing; ///< of a host's threads
  int64_t current;      ///< for hosts with parallel_for only
};

/// Nanoseconds for which one thread works on a step, by what it reads, writes and computes: right
/// to a factor of some three. Negative: not known.
double costOf(const Run &run, int64_t step) {
  constexpr double kBytesPerNanosecond = 16, kFlopsPerNanosecond = 32;
  const manifest::StepT &what = *run.steps[static_cast<size_t>(step)];
  if (what.flops == 0 || what.bytes == 0)
    return -1;
  return static_cast<double>(run.frame->locals[what.bytes]) / kBytesPerNanosecond +
         static_cast<double>(run.frame->locals[what.flops]) / kFlopsPerNanosecond;
}

/// A part is worth a claim, which takes some 0.1 us; handing a step to other threads is worth some
/// microseconds of work. Many parts leave little to wait for when a thread loses its core.
int64_t partsOf(void *data, int64_t step) {
  constexpr double kShared = 1500, kPart = 4000;
  const Run &run = *static_cast<const Run *>(data);
  double cost = costOf(run, step);
  if (cost < 0)
    return run.threads;
  if (cost < kShared)
    return 1;
  auto parts = static_cast<int64_t>(cost / kPart) / run.threads * run.threads;
  return std::clamp(parts, std::min(run.threads, static_cast<int64_t>(cost / kShared) + 1),
                    kPartsPerThread * run.threads);
}

void runPart(void *data, int64_t step, int64_t part, int64_t parts, int32_t thread) {
  const Run &run = *static_cast<const Run *>(data);
  if (!run.tracer)
    return run.step(run.frame, step, part, parts);
  fovea_trace_event event = run.event;
  event.step = step;
  event.thread = thread;
  event.begin = nanoseconds(Clock::now());
  run.step(run.frame, step, part, parts);
  event.end = nanoseconds(Clock::now());
  run.tracer->addPart(event, run.event.begin);
}

void stepDone(void *data, int64_t step) {
  Run &run = *static_cast<Run *>(data);
  if (!run.seconds)
    return;
  Clock::time_point now = Clock::now();
  run.seconds[step] += std::chrono::duration<double>(now - run.before).count();
  run.before = now;
}

void takePart(void *data, int32_t thread) {
  static_cast<const Run *>(data)->sharing->finish(thread);
}

/// One part of the current step.
void runSingle(void *data, int32_t part) {
  const Run &run = *static_cast<const Run *>(data);
  runPart(data, run.current, part, run.threads, part);
}

} // namespace

HostExecutor::HostExecutor(std::shared_ptr<const Module> module, int threads, bool traced)
    : Executor(std::move(module), threads, traced), pool(std::make_unique<ThreadPool>(threads)) {}

HostExecutor::HostExecutor(std::shared_ptr<const Module> module, const fovea_threading &host,
                           bool traced)
    : Executor(std::move(module), host.threads, traced),
      sharing(std::make_unique<WorkSharing>(host.threads)), host(host) {}

/// A condition variable on which the parent's threads sleep waits for them when it is destroyed.
HostExecutor::~HostExecutor() {
  if (isOwner())
    return;
  (void)pool.release();
  (void)sharing.release();
}

const std::string &HostExecutor::name() const {
  static const std::string name = "the CPU";
  return name;
}

const Executor::Steps &HostExecutor::steps(size_t entry) const {
  return module().manifest().entries[entry]->steps;
}

const manifest::KernelT &HostExecutor::kernel(const manifest::StepT &step) const {
  return *module().manifest().kernels[step.kernel];
}

std::unique_ptr<Invocation> HostExecutor::invoke(size_t entry) {
  return std::make_unique<HostInvocation>(*this, entry);
}

std::unique_ptr<CacheMemory> HostExecutor::makeCache() { return std::make_unique<HostCache>(); }

double HostExecutor::measureCopy(uint64_t, int64_t) {
  failInvalid("a copy within a device's memory expects a context on a device, got one on the CPU");
}

void HostExecutor::run(size_t entry, fovea_frame frame, const RunOptions &options) {
  if (pool && threads() > 1)
    requireOwner(std::to_string(threads()) + " threads are not");
  frame.arena = arena.ensure(static_cast<uint64_t>(frame.locals[0]), "the arena");
  frame.weights = module().weights();
  Clock::time_point begin = Clock::now();
  for (int64_t run = 0; run < options.runs && *frame.fault == 0; ++run)
    runOnce(entry, frame, options.stepSeconds);
  if (options.seconds)
    *options.seconds = std::chrono::duration<double>(Clock::now() - begin).count();
}

void HostExecutor::runOnce(size_t entry, const fovea_frame &frame, double *stepSeconds) {
  auto count = static_cast<int64_t>(steps(entry).size());
  fovea_trace_event call = eventOf(entry);
  if (tracer) {
    tracer->reserve(static_cast<size_t>(count));
    call.begin = nanoseconds(Clock::now());
  }
  Run run{module().entries()[entry].step,
          &frame,
          steps(entry),
          threads(),
          tracer.get(),
          call,
          stepSeconds,
          stepSeconds ? Clock::now() : Clock::time_point(),
          sharing.get(),
          0};
  const Work work{runPart, partsOf, stepDone, &run, 0, count};
  if (pool) {
    pool->run(work);
  } else if (host.parallel_region) {
    if (sharing->begin(work, 0))
      host.parallel_region(host.user, host.threads, takePart, &run);
  } else {
    for (; run.current < count; ++run.current) {
      host.parallel_for(host.user, host.threads, runSingle, &run);
      stepDone(&run, run.current);
    }
  }
  if (tracer) {
    call.end = nanoseconds(Clock::now());
    tracer->add(call);
  }
}

} // namespace fovea
