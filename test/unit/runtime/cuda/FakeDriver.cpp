// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// A libcuda.so.1 for tests: the driver's functions that the runtime calls, done by the emulator. It
// has two devices of compute capability 8.6, the second without memory, and one of 9.0; it refuses
// calls without a current context, work on no stream, and lists of parameters that the runtime did
// not end. FOVEA_OLD_DRIVER makes one that knows neither graphs nor tensor maps. Work is done late:
// when somebody waits for its stream, or for a stream that waits for it, and not before. Calls are
// counted, and those about streams are written down in their order.
#include "emulator/Launch.h"
#include "emulator/TensorMap.h"

#include <algorithm>
#include <chrono>
#include <cstdlib>
#include <cstring>
#include <deque>
#include <fstream>
#include <functional>
#include <map>
#include <memory>
#include <set>
#include <string>
#include <vector>

using namespace fovea::emulator;

#define EXPORT extern "C" __attribute__((visibility("default")))

namespace {

enum Result { success = 0, invalidValue = 1, noMemory = 2, noContext = 201, invalidPtx = 218 };

struct Context {
  int number;
  Device device;
  int uses = 0;
};
struct Loaded {
  Context *context;
  std::shared_ptr<Program> program;
};
struct Entry {
  Loaded *module;
  std::string name;
  int shared = 48 * 1024;
};

/// Work, each returning what it met, until somebody waits.
struct Stream {
  Context *context;
  std::deque<std::function<int()>> work;
  std::string name = "own"; ///< in the log
  bool isCaptured = false;
};

/// A point in a stream, and when it was reached. This machine's clock is the device's.
struct Record {
  Stream *stream;
  std::chrono::steady_clock::time_point time;
  bool isReached = false;
};
struct Event {
  Context *context;
  std::shared_ptr<Record> last;
};

Context contexts[3] = {{0, {}}, {1, {}}, {2, {}}};
std::vector<Context *> stack;
std::map<std::string, Entry> functions;
/// CUDA_KERNEL_NODE_PARAMS without _v2.
struct KernelParameters {
  Entry *function;
  unsigned grid[3], block[3], shared;
  void **list, **extra;
};
struct Graph;
struct Node {
  Graph *graph;
  Entry *function;
  LaunchShape shape;
  Arguments arguments;
  std::vector<const Node *> before;
};
struct Graph {
  std::vector<std::unique_ptr<Node>> nodes;
};
/// Copies of a graph's nodes, in its order.
struct Instance {
  Graph *graph;
  std::vector<Node> nodes;
};

std::map<Graph *, std::unique_ptr<Graph>> graphs;
std::map<Instance *, std::unique_ptr<Instance>> instances;
std::map<Stream *, std::unique_ptr<Stream>> streams;
/// Pinned memory and its bytes.
std::map<char *, size_t> pinned;
/// What a real driver leaves behind when it goes; the test asks.
int modules = 0, events = 0;
std::map<std::string, int64_t> calls;
std::string asked; ///< the function that is being called
std::string log;
bool isLogging = false; ///< once somebody has asked for it

/// Writes how often each function was called, a line each, to the file that the environment names.
struct Report {
  ~Report() {
    const char *path = std::getenv("FAKE_DRIVER_CALLS");
    std::ofstream out(path ? path : "/dev/null");
    for (const auto &[name, count] : calls)
      out << name << " " << count << "\n";
  }
} report;

void note(const std::string &what, const Stream &stream) {
  if (isLogging)
    log += what + "(" + stream.name + ") ";
}

/// Work behind what `stream` has. The stream's own errors come when somebody waits.
int later(Stream *stream, std::function<int()> work) {
  if (!streams.count(stream) || stream->context != stack.back())
    return invalidValue;
  stream->work.push_back(std::move(work));
  note(asked, *stream);
  return success;
}

/// Does what a stream has been asked for, up to a point if there is one; the first error.
int drain(Stream *stream, const Record *until = nullptr) {
  int result = success;
  while (!stream->work.empty() && !(until && until->isReached)) {
    auto one = std::move(stream->work.front());
    stream->work.pop_front();
    try {
      if (result == success)
        result = one();
    } catch (const Error &) {
      result = invalidValue;
    }
  }
  return result;
}
int wait(Stream *stream) {
  if (!streams.count(stream))
    return invalidValue;
  ++calls["wait"];
  note("wait", *stream);
  return drain(stream);
}
int waitForAll() {
  int result = success;
  for (auto &[stream, own] : streams)
    if (int one = wait(stream))
      result = one;
  return result;
}

bool isPinned(const void *data, size_t bytes) {
  auto at = static_cast<const char *>(data);
  auto above = pinned.upper_bound(const_cast<char *>(at));
  return above != pinned.begin() &&
         at + bytes <= std::prev(above)->first + std::prev(above)->second;
}

template <typename Body> int guarded(Body body, const char *name = __builtin_FUNCTION()) {
  ++calls[name];
  asked = name;
  if (stack.empty())
    return noContext;
  try {
    return body(*stack.back());
  } catch (const Error &) {
    return invalidValue;
  }
}

/// Copies a kernel's parameters. False unless the list ends, with null, where the kernel's does.
bool read(const Entry &function, void **list, Arguments &arguments) {
  for (const Parameter &parameter :
       function.module->program->module().entry(function.name).parameters) {
    auto bytes = static_cast<const uint8_t *>(*list++);
    if (!bytes)
      return false;
    arguments.addBytes({bytes, bytes + parameter.size});
  }
  return !*list;
}

} // namespace

/// How often a function was called; of "wait", how often the host waited for the device; of
/// "bytes out", how many came from it; of "pageable", how often the driver had to copy what came
/// from the host's ordinary memory.
EXPORT int64_t fake_driver_calls(const char *name) { return calls[name]; }

/// What streams were asked for since the last time, and when the host waited for one, in order:
/// "cuGraphLaunch(own) wait(own) ".
EXPORT const char *fake_driver_log() {
  static std::string told;
  isLogging = true;
  told.swap(log);
  log.clear();
  return told.c_str();
}
/// What a stream is called there, and whether it is being captured.
EXPORT void fake_driver_name_stream(Stream *stream, const char *name, bool isCaptured) {
  stream->name = name;
  stream->isCaptured = isCaptured;
}

/// Modules, events, streams, graphs, contexts and bytes of memory that are still in use.
EXPORT int64_t fake_driver_in_use() {
  int64_t sum =
      modules + events +
      static_cast<int64_t>(stack.size() + streams.size() + graphs.size() + instances.size());
  for (auto [data, bytes] : pinned)
    sum += static_cast<int64_t>(bytes);
  for (Context &context : contexts)
    sum += context.uses + static_cast<int64_t>(context.device.memory().bytesInUse());
  return sum;
}

EXPORT int cuInit(unsigned flags) {
  // Addresses of the third device are of no other.
  static uint64_t gap = contexts[2].device.memory().map(static_cast<void *>(nullptr), 1 << 30, "");
  return flags || !gap ? invalidValue : success;
}
EXPORT int cuDeviceGetCount(int *count) { return *count = 3, success; }
EXPORT int cuDeviceGet(int *device, int number) { return *device = 40 + number, success; }
EXPORT int cuDeviceGetName(char *name, int size, int) {
  std::strncpy(name, "Fake GPU", static_cast<size_t>(size));
  return success;
}
EXPORT int cuDeviceGetAttribute(int *value, int attribute, int device) {
  bool hopper = device == 42;
  *value = attribute == 75   ? (hopper ? 9 : 8)
           : attribute == 76 ? (hopper ? 0 : 6)
           : attribute == 16 ? 3 // multiprocessors
                             : -1;
  return success;
}
EXPORT int cuDevicePrimaryCtxRetain(Context **context, int device) {
  *context = &contexts[device - 40];
  ++(*context)->uses;
  return success;
}
EXPORT int cuDevicePrimaryCtxRelease_v2(int device) {
  return --contexts[device - 40].uses, success;
}
EXPORT int cuCtxPushCurrent_v2(Context *context) { return stack.push_back(context), success; }
EXPORT int cuCtxPopCurrent_v2(Context **context) {
  if (stack.empty())
    return noContext;
  *context = stack.back();
  stack.pop_back();
  return success;
}
EXPORT int cuMemAlloc_v2(unsigned long long *address, size_t bytes) {
  return guarded([&](Context &context) {
    if (context.number == 1)
      return noMemory;
    *address = context.device.memory().allocate(bytes, "memory");
    return success;
  });
}
EXPORT int cuMemFree_v2(unsigned long long address) {
  return guarded([&](Context &context) {
    int result = waitForAll();
    context.device.memory().free(address);
    return result;
  });
}
EXPORT int cuMemHostAlloc(void **data, size_t bytes, unsigned flags) {
  return guarded([&](Context &) {
    auto made = new char[bytes];
    pinned[made] = bytes;
    *data = made;
    return flags ? invalidValue : success;
  });
}
EXPORT int cuMemFreeHost(void *data) {
  return guarded([&](Context &) {
    if (!pinned.erase(static_cast<char *>(data)))
      return invalidValue;
    delete[] static_cast<char *>(data);
    return success;
  });
}
EXPORT int cuStreamCreate(Stream **stream, unsigned flags) {
  return guarded([&](Context &context) {
    auto made = std::make_unique<Stream>();
    made->context = &context;
    *stream = made.get();
    streams[*stream] = std::move(made);
    return flags == 1 ? success : invalidValue;
  });
}
EXPORT int cuStreamDestroy_v2(Stream *stream) {
  return guarded([&](Context &) {
    int result = wait(stream);
    streams.erase(stream);
    return result;
  });
}
EXPORT int cuStreamSynchronize(Stream *stream) {
  return guarded([&](Context &) { return wait(stream); });
}
EXPORT int cuStreamGetCtx(Stream *stream, Context **context) {
  return guarded([&](Context &) {
    if (!streams.count(stream))
      return invalidValue;
    return *context = stream->context, success;
  });
}
EXPORT int cuStreamIsCapturing(Stream *stream, int *status) {
  return guarded([&](Context &) { return *status = stream->isCaptured ? 1 : 0, success; });
}
EXPORT int cuStreamWaitEvent(Stream *stream, Event *event, unsigned flags) {
  return guarded([&](Context &) -> int {
    auto last = event->last;
    if (!last || flags)
      return invalidValue;
    return later(stream, [=] { return last->isReached ? success : drain(last->stream, &*last); });
  });
}
/// Of an address that it does not know all is 0.
EXPORT int cuPointerGetAttributes(unsigned count, const int *attributes, void **values,
                                  unsigned long long address) {
  return guarded([&](Context &) {
    for (Context &context : contexts) {
      bool isThere = context.device.memory().find(address);
      for (unsigned i = 0; i < count; ++i)
        if (isThere || &context == contexts)
          *static_cast<int *>(values[i]) = !isThere             ? 0
                                           : attributes[i] == 2 ? 2 // CU_MEMORYTYPE_DEVICE
                                           : attributes[i] == 9 ? context.number
                                                                : 0;
      if (isThere)
        break;
    }
    return success;
  });
}
EXPORT int cuMemcpyHtoDAsync_v2(unsigned long long to, const void *from, size_t bytes,
                                Stream *stream) {
  return guarded([&](Context &context) {
    if (isPinned(from, bytes))
      return later(stream, [=, &context] {
        return context.device.memory().write(to, from, bytes), success;
      });
    // Other memory's bytes are taken at once.
    ++calls["pageable"];
    auto data = static_cast<const char *>(from);
    std::vector<char> taken(data, data + bytes);
    return later(stream, [=, &context] {
      return context.device.memory().write(to, taken.data(), bytes), success;
    });
  });
}
EXPORT int cuMemcpyDtoHAsync_v2(void *to, unsigned long long from, size_t bytes, Stream *stream) {
  return guarded([&](Context &context) {
    calls["bytes out"] += static_cast<int64_t>(bytes);
    int result = later(
        stream, [=, &context] { return context.device.memory().read(from, to, bytes), success; });
    return result || isPinned(to, bytes) ? result : wait(stream);
  });
}
EXPORT int cuMemcpyDtoDAsync_v2(unsigned long long to, unsigned long long from, size_t bytes,
                                Stream *stream) {
  return guarded([&](Context &context) {
    return later(stream, [=, &context] {
      std::vector<char> between(bytes);
      context.device.memory().read(from, between.data(), bytes);
      context.device.memory().write(to, between.data(), bytes);
      return success;
    });
  });
}
EXPORT int cuEventCreate(Event **event, unsigned flags) {
  return guarded([&](Context &context) {
    *event = new Event{&context, nullptr};
    ++events;
    return flags & ~2u ? invalidValue : success; // CU_EVENT_DISABLE_TIMING
  });
}
EXPORT int cuEventDestroy_v2(Event *event) {
  return guarded([&](Context &) { return delete event, --events, success; });
}
EXPORT int cuEventRecord(Event *event, Stream *stream) {
  return guarded([&](Context &context) -> int {
    auto record = event->last = std::make_shared<Record>();
    record->stream = stream;
    if (event->context != &context)
      return invalidValue;
    return later(stream, [=] {
      record->time = std::chrono::steady_clock::now();
      record->isReached = true;
      return success;
    });
  });
}
EXPORT int cuEventSynchronize(Event *event) {
  return guarded([&](Context &) -> int {
    if (!event->last)
      return invalidValue;
    return event->last->isReached ? success : wait(event->last->stream);
  });
}
EXPORT int cuEventElapsedTime(float *milliseconds, Event *begin, Event *end) {
  return guarded([&](Context &) {
    if (!begin->last || !end->last || !begin->last->isReached || !end->last->isReached)
      return invalidValue;
    *milliseconds =
        std::chrono::duration<float, std::milli>(end->last->time - begin->last->time).count();
    return success;
  });
}
EXPORT int cuMemsetD8Async(unsigned long long to, unsigned char value, size_t bytes,
                           Stream *stream) {
  return guarded([&](Context &context) {
    return later(stream,
                 [=, &context] { return context.device.memory().fill(to, value, bytes), success; });
  });
}
EXPORT int cuModuleLoadDataEx(Loaded **module, const void *image, unsigned count, int *options,
                              void **values) {
  return guarded([&](Context &context) -> int {
    try {
      *module = new Loaded{
          &context, context.device.load(Module::parse(static_cast<const char *>(image), "image"))};
      ++modules;
      return success;
    } catch (const Error &error) {
      for (unsigned i = 0; i < count; ++i)
        if (options[i] == 5)
          std::strncpy(static_cast<char *>(values[i]), error.what(), 100);
      return invalidPtx;
    }
  });
}
EXPORT int cuModuleUnload(Loaded *module) {
  return guarded([&](Context &) { return delete module, --modules, success; });
}
EXPORT int cuModuleGetFunction(Entry **function, Loaded *module, const char *name) {
  return guarded([&](Context &) {
    module->program->module().entry(name);
    *function = &(functions[name] = {module, name});
    return success;
  });
}
EXPORT int cuFuncSetAttribute(Entry *function, int attribute, int value) {
  return guarded([&](Context &) {
    if (attribute == 8)
      function->shared = value;
    return attribute == 8 && value <= 100 * 1024 ? success : invalidValue;
  });
}
EXPORT int cuLaunchKernel(Entry *function, unsigned x, unsigned y, unsigned z, unsigned tx,
                          unsigned ty, unsigned tz, unsigned shared, Stream *stream,
                          void **parameters, void **extra) {
  return guarded([&](Context &context) -> int {
    if (extra || static_cast<int>(shared) > function->shared)
      return invalidValue;
    LaunchShape shape{{x, y, z}, {tx, ty, tz}, shared};
    Arguments arguments;
    if (!read(*function, parameters, arguments))
      return invalidValue;
    return later(stream, [=, &context] {
      context.device.launch(*function->module->program, function->name, shape, arguments);
      return success;
    });
  });
}
#ifndef FOVEA_OLD_DRIVER
namespace {

/// A node of `parameters`. False if they are wrong.
bool read(const KernelParameters &parameters, Node &node) {
  node.function = parameters.function;
  for (int i = 0; i < 3; ++i) {
    node.shape.grid[i] = parameters.grid[i];
    node.shape.block[i] = parameters.block[i];
  }
  node.shape.dynamicShared = parameters.shared;
  node.arguments = Arguments();
  return !parameters.extra && parameters.list && parameters.grid[0] &&
         static_cast<int>(parameters.shared) <= node.function->shared &&
         read(*node.function, parameters.list, node.arguments);
}

/// Runs nodes, each when those before it are done; of those that may run the last one first, so
/// that an order that nobody asked for is not kept.
void run(Device &device, const std::vector<const Node *> &originals,
         const std::vector<Node> &nodes) {
  std::set<const Node *> done;
  while (done.size() < nodes.size())
    for (size_t i = nodes.size(); i-- > 0;) {
      const Node *original = originals[i];
      const auto &before = nodes[i].before;
      if (done.count(original) ||
          !std::all_of(before.begin(), before.end(), [&](auto *n) { return done.count(n); }))
        continue;
      device.launch(*nodes[i].function->module->program, nodes[i].function->name, nodes[i].shape,
                    nodes[i].arguments);
      done.insert(original);
      break;
    }
}

} // namespace

EXPORT int cuGraphCreate(Graph **graph, unsigned flags) {
  return guarded([&](Context &) {
    auto made = std::make_unique<Graph>();
    *graph = made.get();
    graphs[*graph] = std::move(made);
    return flags ? invalidValue : success;
  });
}
EXPORT int cuGraphDestroy(Graph *graph) {
  return guarded([&](Context &) { return graphs.erase(graph) ? success : invalidValue; });
}
EXPORT int cuGraphAddKernelNode(Node **node, Graph *graph, Node *const *before, size_t count,
                                const KernelParameters *parameters) {
  return guarded([&](Context &) {
    auto made = std::make_unique<Node>();
    if (!graphs.count(graph) || !read(*parameters, *made))
      return invalidValue;
    made->graph = graph;
    made->before.assign(before, before + count);
    for (const Node *other : made->before)
      if (other->graph != graph)
        return invalidValue;
    *node = made.get();
    graph->nodes.push_back(std::move(made));
    return success;
  });
}
EXPORT int cuGraphInstantiateWithFlags(Instance **instance, Graph *graph,
                                       unsigned long long flags) {
  return guarded([&](Context &) {
    if (!graphs.count(graph) || flags)
      return invalidValue;
    auto made = std::make_unique<Instance>();
    made->graph = graph;
    for (const auto &node : graph->nodes)
      made->nodes.push_back(*node);
    *instance = made.get();
    instances[*instance] = std::move(made);
    return success;
  });
}
EXPORT int cuGraphExecDestroy(Instance *instance) {
  return guarded([&](Context &) { return instances.erase(instance) ? success : invalidValue; });
}
/// The graph that it was made from must be there still; another function is refused.
EXPORT int cuGraphExecKernelNodeSetParams(Instance *instance, Node *node,
                                          const KernelParameters *parameters) {
  return guarded([&](Context &) {
    if (!instances.count(instance) || !graphs.count(instance->graph))
      return invalidValue;
    const auto &originals = instance->graph->nodes;
    for (size_t i = 0; i < originals.size(); ++i)
      if (originals[i].get() == node)
        return parameters->function == node->function && read(*parameters, instance->nodes[i])
                   ? success
                   : invalidValue;
    return invalidValue;
  });
}
EXPORT int cuGraphLaunch(Instance *instance, Stream *stream) {
  return guarded([&](Context &context) -> int {
    if (!instances.count(instance))
      return invalidValue;
    // As it is now: what is changed later is for later launches.
    auto nodes = instance->nodes;
    std::vector<const Node *> originals;
    for (const auto &node : instance->graph->nodes)
      originals.push_back(node.get());
    return later(stream, [=, &context] {
      run(context.device, originals, nodes);
      return success;
    });
  });
}

EXPORT int cuTensorMapEncodeTiled(void *encoded, int element, uint32_t rank, void *address,
                                  const uint64_t *sizes, const uint64_t *strides,
                                  const uint32_t *box, const uint32_t *elementStrides,
                                  int interleave, int swizzle, int promotion, int fill) {
  return guarded([&](Context &) {
    const uint32_t bytes[] = {1, 2, 4, 4, 8, 8, 2, 4, 8, 2}; // CUtensorMapDataType
    if (reinterpret_cast<uintptr_t>(encoded) % 64 || element < 0 || element > 9 || rank > 5 ||
        interleave || swizzle < 0 || swizzle > 3 || promotion < 2 || promotion > 3 || fill)
      return invalidValue;
    TensorMap map;
    map.rank = rank;
    map.elementBytes = bytes[element];
    map.address = reinterpret_cast<uint64_t>(address);
    for (uint32_t axis = 0; axis < rank; ++axis) {
      if (elementStrides[axis] != 1)
        return invalidValue;
      map.sizes[axis] = sizes[axis];
      map.box[axis] = box[axis];
      if (axis > 0)
        map.strides[axis - 1] = strides[axis - 1];
    }
    map.swizzle = static_cast<TensorMap::Swizzle>(swizzle);
    auto made = map.encode();
    std::memcpy(encoded, made.data(), made.size());
    return success;
  });
}
#endif // FOVEA_OLD_DRIVER

EXPORT int cuGetErrorString(int error, const char **text) {
  *text = error == noMemory     ? "out of memory"
          : error == invalidPtx ? "a PTX JIT compilation failed"
          : error == noContext  ? "invalid device context"
                                : nullptr;
  return *text ? success : invalidValue;
}
