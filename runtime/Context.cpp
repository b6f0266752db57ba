// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// See Context.h. Refuses thread counts and capacities that make no sense, and
// rows that do not fit what the caches hold.
#include "runtime/Context.h"

#include "runtime/StructSize.h"
#include "runtime/status/Status.h"

#include <algorithm>
#include <chrono>
#include <cstring>
#include <unistd.h>

namespace fovea {

/// Without an option: long enough for a conversation, small enough for any machine.
static constexpr int64_t defaultCapacity = 4096;
static constexpr int32_t maxThreads = 1024;

Context::Context(std::shared_ptr<const Module> module, const fovea_context_options &options)
    : owner(::getpid()), theModule(std::move(module)), profile(options.profile != 0),
      traced(options.trace != 0) {
  int64_t longest = theModule->manifest().model->max_positions;
  if (options.capacity < 0)
    failInvalid("expects a context of at least 1 position, got " +
                std::to_string(options.capacity));
  if (longest > 0 && options.capacity > longest)
    failInvalid("expects a context of at most " + std::to_string(longest) +
                " positions, the longest the model was made for, got " +
                std::to_string(options.capacity));
  cacheCapacity = options.capacity > 0 ? options.capacity
                  : longest > 0        ? std::min(longest, defaultCapacity)
                                       : defaultCapacity;
  if (options.threading) {
    hosted = true;
    host = takeStruct(options.threading, FOVEA_THREADING_INIT);
    if (options.device && std::strcmp(options.device, "cpu") != 0)
      failInvalid("threading: a host's threads run code for the CPU; expects no device, got '" +
                  std::string(options.device) + "'");
    if (host.threads < 1 || host.threads > maxThreads ||
        (!host.parallel_region && !host.parallel_for))
      failInvalid("threading: expects 1 to 1024 threads and one of the two functions");
    threadCount = host.threads;
    barrier = std::make_unique<Barrier>(host.threads, spinsFor(host.threads));
  } else {
    if (options.threads < 0 || options.threads > maxThreads)
      failInvalid("expects 1 to 1024 threads, or 0 for one a core, got " +
                  std::to_string(options.threads));
    int count = options.threads > 0 ? options.threads : std::min(availableCores(), maxThreads);
    threadCount = count;
    std::unique_ptr<Device> chosen = makeDevice(options.device ? options.device : "cpu", count);
    if (chosen) {
      device = std::make_unique<OnDevice>(theModule, std::move(chosen), count);
    } else {
      pool = std::make_unique<ThreadPool>(count);
      barrier = std::make_unique<Barrier>(count, spinsFor(count));
    }
  }
  if (traced)
    events.resize(static_cast<size_t>(threads()));
  for (const auto &entry : theModule->manifest().entries)
    for (const auto &value : entry->arguments) {
      if (value->kind != manifest::ValueKind::Cache)
        continue;
      bool known = std::any_of(caches.begin(), caches.end(),
                               [&](const Cache &cache) { return cache.name == value->name; });
      if (known)
        continue;
      Cache cache;
      cache.name = value->name;
      cache.heads = value->heads;
      cache.size = value->size;
      cache.elementBytes = artifact::elementBytes(value->element);
      caches.push_back(std::move(cache));
    }
}

int64_t Context::length() const {
  int64_t longest = 0;
  for (const Cache &cache : caches)
    longest = std::max(longest, cache.length);
  return longest;
}

void Context::zeroUsed(Cache &cache) {
  if (cache.length == 0)
    return;
  uint64_t row = static_cast<uint64_t>(cache.size) * cache.elementBytes;
  uint64_t stride = row * static_cast<uint64_t>(cacheCapacity);
  if (device) {
    uint64_t address = cache.onDevice.address();
    for (int64_t i = 0; i < cache.batch * cache.heads; ++i, address += stride)
      device->device().fill(address, 0, row * static_cast<uint64_t>(cache.length));
    cache.length = 0;
    return;
  }
  char *at = static_cast<char *>(cache.memory.get());
  for (int64_t i = 0; i < cache.batch * cache.heads; ++i, at += stride)
    std::memset(at, 0, row * static_cast<uint64_t>(cache.length));
  cache.length = 0;
}

void Context::reset() {
  for (Cache &cache : caches)
    zeroUsed(cache);
}

Cache &Context::cache(const manifest::ValueT &value) {
  for (Cache &cache : caches)
    if (cache.name == value.name)
      return cache;
  failInternal("the context has no cache '" + value.name + "'");
}

void Context::prepare(Cache &cache, int64_t batch) {
  if (cache.length > 0 && cache.batch != batch)
    failInvalid("cache '" + cache.name + "' holds " + std::to_string(cache.length) +
                " positions of " + std::to_string(cache.batch) + " rows; the call has " +
                std::to_string(batch) + " rows (reset the context to begin anew)");
  uint64_t bytes = cache.elementBytes;
  bool fits = true;
  for (int64_t factor : {batch, cache.heads, cacheCapacity, cache.size})
    fits = fits && !__builtin_mul_overflow(bytes, static_cast<uint64_t>(factor), &bytes);
  if (!fits)
    bytes = UINT64_MAX;
  auto what = [&] {
    return "cache '" + cache.name + "' (" + std::to_string(batch) + " rows, context of " +
           std::to_string(cacheCapacity) + ")";
  };
  if (!device && bytes > cache.memory.size())
    cache.memory.ensure(bytes, what());
  if (device && bytes > cache.bytesOnDevice) {
    cache.bytesOnDevice = 0;
    device->device().fill(cache.onDevice.ensure(device->device(), bytes, what()), 0, bytes);
    cache.bytesOnDevice = bytes;
  }
  cache.batch = batch;
}

const std::vector<std::unique_ptr<manifest::StepT>> &Context::steps(size_t entry) const {
  return device ? device->entry(entry).description->steps
                : theModule->manifest().entries[entry]->steps;
}

const manifest::KernelT &Context::kernel(const manifest::StepT &step) const {
  return device ? device->kernel(step.kernel) : *theModule->manifest().kernels[step.kernel];
}

/// Nothing is allocated while steps run.
void Context::reserveEvents(size_t steps) {
  for (auto &ofThread : events)
    if (size_t needed = ofThread.size() + steps + 1; needed > ofThread.capacity())
      ofThread.reserve(2 * needed);
}

const std::vector<fovea_trace_event> &Context::trace() {
  if (!traced)
    failInvalid("the context does not trace");
  allEvents.clear();
  for (const auto &ofThread : events)
    allEvents.insert(allEvents.end(), ofThread.begin(), ofThread.end());
  return allEvents;
}

namespace {
using Clock = std::chrono::steady_clock;

int64_t nanoseconds(Clock::time_point time) {
  return std::chrono::duration_cast<std::chrono::nanoseconds>(time.time_since_epoch()).count();
}

struct Region {
  fovea_step_fn step;
  const fovea_frame *frame;
  int64_t first, end;
  int64_t parts;
  Barrier *barrier;
  double *seconds;
  /// By thread; null without a trace. Has room for all of this region.
  std::vector<fovea_trace_event> *events;
  fovea_trace_event event;
};

/// One part of one step, recorded if the region is.
void runPart(const Region &region, int64_t step, int32_t part) {
  if (!region.events)
    return region.step(region.frame, step, part, region.parts);
  fovea_trace_event event = region.event;
  event.step = step;
  event.thread = part;
  event.begin = nanoseconds(Clock::now());
  region.step(region.frame, step, part, region.parts);
  event.end = nanoseconds(Clock::now());
  region.events[part].push_back(event);
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

/// A condition variable on which the parent's threads sleep waits for them when it is destroyed.
Context::~Context() {
  if (::getpid() == owner)
    return;
  (void)pool.release();
  (void)barrier.release();
}

void Context::requireOwner() const {
  if (hosted || (!device && threadCount == 1) || ::getpid() == owner)
    return;
  failInvalid(
      "expects a context that was made after fork(), got one of process " + std::to_string(owner) +
      ", whose " +
      (device ? "device cannot be used" : std::to_string(threadCount) + " threads are not") +
      " here");
}

void Context::runSteps(fovea_step_fn step, const fovea_frame &frame, int64_t steps, double *seconds,
                       size_t entry) {
  requireOwner();
  fovea_trace_event call{theModule->manifest().entries[entry]->name.c_str(), entry, -1, 0, 0, 0};
  Region region{step,      &frame,        0,       steps,
                threads(), barrier.get(), seconds, traced ? events.data() : nullptr,
                call};
  reserveEvents(static_cast<size_t>(steps));
  call.begin = traced ? nanoseconds(Clock::now()) : 0;
  if (!hosted) {
    pool->run(walk, &region);
  } else if (host.parallel_region) {
    host.parallel_region(host.user, host.threads, walk, &region);
  } else {
    for (; region.first < steps; ++region.first) {
      Clock::time_point before = Clock::now();
      host.parallel_for(host.user, host.threads, single, &region);
      if (seconds)
        seconds[region.first] += std::chrono::duration<double>(Clock::now() - before).count();
    }
  }
  if (traced) {
    call.end = nanoseconds(Clock::now());
    events[0].push_back(call);
  }
}

int64_t Context::runOnDevice(fovea_frame frame, uint64_t arenaBytes, double *seconds, size_t entry,
                             Repeated *repeated, DeviceGraph &graph, DeviceResults &results) {
  requireOwner();
  Device &on = device->device();
  frame.arena = reinterpret_cast<void *>(arenaOnDevice.ensure(on, arenaBytes, "the arena"));
  frame.weights = device->weights();
  frame.fault = reinterpret_cast<int64_t *>(results.faultAddress());
  auto count = static_cast<int64_t>(steps(entry).size());
  // Marks let the device go on: nobody waits between steps.
  const bool eachStep = !repeated && (seconds || traced);
  while (marks.size() < (eachStep ? static_cast<size_t>(count) + 1 : repeated ? 2 : 0))
    marks.push_back(on.makeEvent());
  reserveEvents(eachStep ? static_cast<size_t>(count) : 0);
  int64_t begin = nanoseconds(Clock::now());
  if (eachStep)
    marks[0]->record();
  graph.begin();
  for (int64_t step = 0; step < count; ++step) {
    if (int64_t wrong = device->launch(entry, step, frame, eachStep ? nullptr : &graph)) {
      on.fill(results.faultAddress(), 0, sizeof(*frame.fault)); // steps before it may have run
      return wrong;
    }
    if (eachStep)
      marks[static_cast<size_t>(step) + 1]->record();
  }
  if (repeated) {
    graph.prepare();
    marks[0]->record();
  }
  for (int64_t run = 0, runs = repeated ? repeated->runs : 1; run < runs; ++run)
    graph.run(); // of nothing, if each step ran on its own
  if (repeated)
    marks[1]->record();
  int64_t fault = results.finish();
  int64_t end = nanoseconds(Clock::now());
  if (repeated)
    repeated->seconds = marks[1]->secondsSince(*marks[0]);
  for (size_t step = 0; seconds && eachStep && step < static_cast<size_t>(count); ++step)
    seconds[step] += marks[step + 1]->secondsSince(*marks[step]);
  if (traced && eachStep)
    traceOnDevice(entry, begin, end);
  return fault;
}

/// Records a run's steps by their marks, and the whole from `begin` to `end`, nanoseconds of this
/// machine's clock. The device's has another zero: its first mark is taken for `begin`.
void Context::traceOnDevice(size_t entry, int64_t begin, int64_t end) {
  fovea_trace_event event{
      theModule->manifest().entries[entry]->name.c_str(), entry, 0, 0, 0, begin};
  for (size_t step = 0; step < steps(entry).size(); ++step) {
    event.step = static_cast<int64_t>(step);
    event.begin = event.end;
    event.end = begin + static_cast<int64_t>(marks[step + 1]->secondsSince(*marks[0]) * 1e9);
    event.end = std::max(event.begin, std::min(event.end, end));
    events[0].push_back(event);
  }
  event.step = -1;
  event.begin = begin;
  event.end = end;
  events[0].push_back(event);
}

double Context::copyOnDevice(uint64_t bytes, int64_t runs) {
  if (!device)
    failInvalid(
        "a copy within a device's memory expects a context on a device, got one on the CPU");
  requireOwner();
  Device &on = device->device();
  DeviceBuffer from, to;
  uint64_t source = from.ensure(on, bytes, "a copy"), target = to.ensure(on, bytes, "a copy");
  on.fill(source, 1, bytes);
  on.copy(target, source, bytes); // the first one finds pages and clocks asleep
  std::unique_ptr<DeviceEvent> first = on.makeEvent(), last = on.makeEvent();
  first->record();
  for (int64_t run = 0; run < runs; ++run)
    on.copy(target, source, bytes);
  last->record();
  return last->secondsSince(*first);
}

} // namespace fovea
