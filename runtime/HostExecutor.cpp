// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// See HostExecutor.h. Arguments are read and results written where they are.
#include "runtime/HostExecutor.h"

#include "runtime/status/Status.h"

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

/// Steps [first, end) of one run, as all threads see them.
struct Region {
  fovea_step_fn step;
  const fovea_frame *frame;
  int64_t first, end;
  int64_t parts;
  Barrier *barrier;
  double *seconds;
  Tracer *tracer; ///< null: nothing is traced. Has room for all of this region.
  fovea_trace_event event;
};

/// One part of one step, recorded if the region is.
void runPart(const Region &region, int64_t step, int32_t part) {
  if (!region.tracer)
    return region.step(region.frame, step, part, region.parts);
  fovea_trace_event event = region.event;
  event.step = step;
  event.thread = part;
  event.begin = nanoseconds(Clock::now());
  region.step(region.frame, step, part, region.parts);
  event.end = nanoseconds(Clock::now());
  region.tracer->add(part, event);
}

/// One thread's way through the steps.
void walk(void *data, int32_t part) {
  const Region &region = *static_cast<const Region *>(data);
  bool timed = region.seconds && part == 0;
  Clock::time_point before = timed ? Clock::now() : Clock::time_point();
  for (int64_t i = region.first; i < region.end; ++i) {
    runPart(region, i, part);
    if (region.parts > 1)
      region.barrier->wait();
    if (timed) {
      Clock::time_point after = Clock::now();
      region.seconds[i] += std::chrono::duration<double>(after - before).count();
      before = after;
    }
  }
}

/// One part of one step, for hosts with parallel_for only.
void single(void *data, int32_t part) {
  const Region &region = *static_cast<const Region *>(data);
  runPart(region, region.first, part);
}

} // namespace

HostExecutor::HostExecutor(std::shared_ptr<const Module> module, int threads, bool traced)
    : Executor(std::move(module), threads, traced), pool(std::make_unique<ThreadPool>(threads)),
      barrier(std::make_unique<Barrier>(threads, spinsFor(threads))) {}

HostExecutor::HostExecutor(std::shared_ptr<const Module> module, const fovea_threading &host,
                           bool traced)
    : Executor(std::move(module), host.threads, traced), host(host),
      barrier(std::make_unique<Barrier>(host.threads, spinsFor(host.threads))) {}

/// A condition variable on which the parent's threads sleep waits for them when it is destroyed.
HostExecutor::~HostExecutor() {
  if (isOwner())
    return;
  (void)pool.release();
  (void)barrier.release();
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
  Region region{module().entries()[entry].step,
                &frame,
                0,
                count,
                threads(),
                barrier.get(),
                stepSeconds,
                tracer.get(),
                call};
  if (tracer)
    tracer->reserve(static_cast<size_t>(count));
  call.begin = tracer ? nanoseconds(Clock::now()) : 0;
  if (pool) {
    pool->run(walk, &region);
  } else if (host.parallel_region) {
    host.parallel_region(host.user, host.threads, walk, &region);
  } else {
    for (; region.first < count; ++region.first) {
      Clock::time_point before = Clock::now();
      host.parallel_for(host.user, host.threads, single, &region);
      if (stepSeconds)
        stepSeconds[region.first] += std::chrono::duration<double>(Clock::now() - before).count();
    }
  }
  if (tracer) {
    call.end = nanoseconds(Clock::now());
    tracer->add(0, call);
  }
}

} // namespace fovea
