// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// See DeviceExecutor.h. Nobody waits between steps: events tell afterwards when each was done.
#include "runtime/DeviceExecutor.h"

#include "runtime/status/Status.h"

#include <algorithm>

namespace fovea {

namespace {

/// What every buffer that kernels are given begins at a multiple of.
constexpr uint64_t launchAlignment = 64;

/// An address on a device, as a frame holds it.
void *pointer(uint64_t address) {
  return reinterpret_cast<void *>(address); // NOLINT(performance-no-int-to-ptr): the device's
}

class DeviceCache : public CacheMemory {
public:
  explicit DeviceCache(Device &device) : device(device) {}
  uint64_t size() const override { return bytes; }
  void grow(uint64_t wanted, const std::string &what) override {
    bytes = 0;
    device.fill(buffer.ensure(device, wanted, what), 0, wanted);
    bytes = wanted;
  }
  void zero(uint64_t offset, uint64_t count) override {
    device.fill(buffer.address() + offset, 0, count);
  }
  void copyFrom(const CacheMemory &from, uint64_t fromOffset, uint64_t offset,
                uint64_t count) override {
    device.copy(buffer.address() + offset, reinterpret_cast<uint64_t>(from.address()) + fromOffset,
                count);
  }
  void read(void *to, uint64_t offset, uint64_t count) const override {
    device.copyOut(to, buffer.address() + offset, count);
    device.synchronize();
  }
  void write(const void *from, uint64_t offset, uint64_t count) override {
    device.copyIn(buffer.address() + offset, from, count);
  }
  void *address() const override { return pointer(buffer.address()); }

private:
  Device &device;
  DeviceBuffer buffer;
  uint64_t bytes = 0;
};

class DeviceInvocation : public Invocation {
public:
  DeviceInvocation(DeviceExecutor &executor, size_t entry)
      : executor(executor), number(entry),
        description(*executor.module().entries()[entry].description),
        graph(executor.loaded().makeGraph()), arguments(description.arguments.size()),
        results(executor.device(), namesOf(description)) {}

  size_t locals() const override { return executor.loaded().entry(number).description->locals; }
  void plan(const int64_t *sizes, int64_t *locals) const override {
    executor.loaded().entry(number).plan(sizes, locals);
  }
  void *bind(size_t argument, const void *data, uint64_t bytes, bool isThere) override {
    Device &device = executor.device();
    const std::string what = "argument '" + description.arguments[argument]->name + "'";
    const auto given = reinterpret_cast<uint64_t>(data);
    const bool copiesThere = isThere && bytes > 0;
    if (copiesThere) {
      requireOnDevice(device, given, bytes, /*writes=*/false,
                      "entry '" + description.name + "': " + what);
      if (given % launchAlignment == 0 && !results.overlaps(given, bytes))
        return const_cast<void *>(data);
    }
    uint64_t address = arguments[argument].ensure(device, bytes, what);
    if (copiesThere)
      device.copy(address, given, bytes);
    else if (bytes)
      device.copyIn(address, data, bytes);
    return pointer(address);
  }
  void prepare(const std::vector<uint64_t> &bytes, bool stay, void **addresses) override {
    results.prepare(bytes, stay);
    for (size_t i = 0; i < description.results.size(); ++i)
      if (description.results[i]->kind == manifest::ValueKind::Tensor)
        addresses[i] = pointer(results.address(i));
  }
  int64_t run(void *const *buffers, const int64_t *locals, const RunOptions &options) override {
    return executor.run(number, {nullptr, nullptr, buffers, locals, nullptr}, options, *graph,
                        results);
  }
  int64_t wait() override { return results.wait(); }
  void fetchOnly(size_t result) override { results.fetchOnly(result); }
  void *fetch(size_t result) override { return results.fetch(result); }

private:
  static std::vector<std::string> namesOf(const manifest::EntryT &entry) {
    std::vector<std::string> names;
    for (const auto &value : entry.results)
      names.push_back(value->name);
    return names;
  }

  DeviceExecutor &executor;
  const size_t number;
  const manifest::EntryT &description;
  std::unique_ptr<DeviceGraph> graph; ///< of the steps
  std::vector<DeviceBuffer> arguments;
  DeviceResults results;
};

} // namespace

DeviceExecutor::DeviceExecutor(std::shared_ptr<const Module> module, std::unique_ptr<Device> device,
                               int threads, bool traced)
    : Executor(module, threads, traced), program(std::move(module), std::move(device), threads),
      callers(program.device()) {}

CallerMemory &DeviceExecutor::callerMemory() {
  requireHere();
  return callers;
}

void DeviceExecutor::enter(void *stream) {
  requireHere();
  if (!device().enter(stream))
    Executor::enter(stream);
}

const Executor::Steps &DeviceExecutor::steps(size_t entry) const {
  return program.entry(entry).description->steps;
}

const manifest::KernelT &DeviceExecutor::kernel(const manifest::StepT &step) const {
  return program.kernel(step.kernel);
}

std::unique_ptr<Invocation> DeviceExecutor::invoke(size_t entry) {
  return std::make_unique<DeviceInvocation>(*this, entry);
}

std::unique_ptr<CacheMemory> DeviceExecutor::makeCache() {
  return std::make_unique<DeviceCache>(device());
}

int64_t DeviceExecutor::run(size_t entry, fovea_frame frame, const RunOptions &options,
                            DeviceGraph &graph, DeviceResults &results) {
  requireHere();
  Device &on = device();
  frame.arena = pointer(arena.ensure(on, static_cast<uint64_t>(frame.locals[0]), "the arena"));
  frame.weights = program.weights();
  frame.fault = static_cast<int64_t *>(pointer(results.faultAddress()));
  const size_t count = steps(entry).size();
  const bool asOne = options.seconds, eachStep = !asOne && (options.stepSeconds || tracer);
  while (events.size() < (eachStep ? count + 1 : asOne ? 2 : 0))
    events.push_back(on.makeEvent());
  if (tracer && eachStep)
    tracer->reserve(count);
  int64_t begin = nanoseconds(Clock::now());
  if (eachStep)
    events[0]->record();
  graph.begin();
  for (size_t step = 0; step < count; ++step) {
    if (int64_t wrong =
            program.launch(entry, static_cast<int64_t>(step), frame, eachStep ? nullptr : &graph)) {
      if (eachStep) // steps before it have run
        on.fill(results.faultAddress(), 0, sizeof(*frame.fault));
      return wrong;
    }
    if (eachStep)
      events[step + 1]->record();
  }
  if (asOne) {
    graph.prepare();
    events[0]->record();
  }
  for (int64_t run = 0; run < options.runs; ++run)
    graph.run(); // of nothing, if each step ran on its own
  if (asOne)
    events[1]->record();
  if (!options.waits && !eachStep && !asOne) {
    results.leave();
    return 0;
  }
  int64_t fault = results.finish();
  int64_t end = nanoseconds(Clock::now());
  if (asOne)
    *options.seconds = events[1]->secondsSince(*events[0]);
  for (size_t step = 0; options.stepSeconds && eachStep && step < count; ++step)
    options.stepSeconds[step] += events[step + 1]->secondsSince(*events[step]);
  if (tracer && eachStep)
    traceSteps(entry, begin, end);
  return fault;
}

/// Records a run's steps by their events, and the whole from `begin` to `end`, nanoseconds of this
/// machine's clock. The device's has another zero: its first event is taken for `begin`.
void DeviceExecutor::traceSteps(size_t entry, int64_t begin, int64_t end) {
  fovea_trace_event event = eventOf(entry);
  event.end = begin;
  for (size_t step = 0; step < steps(entry).size(); ++step) {
    event.step = static_cast<int64_t>(step);
    event.begin = event.end;
    event.end = begin + static_cast<int64_t>(events[step + 1]->secondsSince(*events[0]) * 1e9);
    event.end = std::max(event.begin, std::min(event.end, end));
    tracer->add(event);
  }
  event.step = -1;
  event.begin = begin;
  event.end = end;
  tracer->add(event);
}

double DeviceExecutor::measureCopy(uint64_t bytes, int64_t runs) {
  requireHere();
  Device &on = device();
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
