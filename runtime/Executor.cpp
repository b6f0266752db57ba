// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// See Executor.h. Refuses thread counts that make no sense, and devices for a host's threads.
#include "runtime/DeviceExecutor.h"
#include "runtime/HostExecutor.h"
#include "runtime/StructSize.h"
#include "runtime/status/Status.h"

#include <algorithm>
#include <cstring>
#include <unistd.h>

namespace fovea {

static constexpr int32_t maxThreads = 1024;

void Tracer::reserve(size_t steps) {
  for (auto &ofThread : events)
    if (size_t needed = ofThread.size() + steps + 1; needed > ofThread.capacity())
      ofThread.reserve(2 * needed);
}

void Tracer::addPart(const fovea_trace_event &event, int64_t begin) {
  auto &own = events[static_cast<size_t>(event.thread)];
  if (!own.empty() && own.back().step == event.step && own.back().begin >= begin)
    own.back().end = event.end;
  else
    own.push_back(event);
}

const std::vector<fovea_trace_event> &Tracer::all() {
  joined.clear();
  for (const auto &ofThread : events)
    joined.insert(joined.end(), ofThread.begin(), ofThread.end());
  return joined;
}

Executor::Executor(std::shared_ptr<const Module> module, int threads, bool traced)
    : theModule(std::move(module)), threadCount(threads),
      tracer(traced ? std::make_unique<Tracer>(threads) : nullptr), owner(::getpid()) {}

const std::vector<fovea_trace_event> &Executor::trace() {
  if (!tracer)
    failInvalid("the context does not trace");
  return tracer->all();
}

CallerMemory &Executor::callerMemory() {
  failInvalid("memory of a device expects a context on one, got one on " + name());
}

void Executor::enter(void *) {
  failInvalid("a run on a stream expects a context on CUDA, got one on " + name());
}

bool Executor::isOwner() const { return ::getpid() == owner; }

void Executor::requireOwner(const std::string &lost) const {
  if (!isOwner())
    failInvalid("expects a context that was made after fork(), got one of process " +
                std::to_string(owner) + ", whose " + lost + " here");
}

fovea_trace_event Executor::eventOf(size_t entry) const {
  return {module().manifest().entries[entry]->name.c_str(), entry, -1, 0, 0, 0};
}

static std::unique_ptr<Executor> makeHosted(std::shared_ptr<const Module> module,
                                            const fovea_context_options &options) {
  fovea_threading host = takeStruct(options.threading, FOVEA_THREADING_INIT);
  if (options.device && std::strcmp(options.device, "cpu") != 0)
    failInvalid("threading: a host's threads run code for the CPU; expects no device, got '" +
                std::string(options.device) + "'");
  if (host.threads < 1 || host.threads > maxThreads ||
      (!host.parallel_region && !host.parallel_for))
    failInvalid("threading: expects 1 to 1024 threads and one of the two functions");
  return std::make_unique<HostExecutor>(std::move(module), host, options.trace != 0);
}

std::unique_ptr<Executor> makeExecutor(std::shared_ptr<const Module> module,
                                       const fovea_context_options &options) {
  if (options.threading)
    return makeHosted(std::move(module), options);
  if (options.threads < 0 || options.threads > maxThreads)
    failInvalid("expects 1 to 1024 threads, or 0 for one a core, got " +
                std::to_string(options.threads));
  int threads = options.threads > 0 ? options.threads : std::min(availableCores(), maxThreads);
  const bool traced = options.trace != 0;
  if (std::unique_ptr<Device> device = makeDevice(options.device ? options.device : "cpu", threads))
    return std::make_unique<DeviceExecutor>(std::move(module), std::move(device), threads, traced);
  return std::make_unique<HostExecutor>(std::move(module), threads, traced);
}

} // namespace fovea
