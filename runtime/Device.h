// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// What a context needs of a device that is not the CPU: memory, copies, modules, launches. Work is
// done in the order in which it is asked for, at the latest when somebody synchronizes. Everything
// throws Failure. One thread at a time uses a device.
//
// Addresses are the device's own numbers: never read through them.
#ifndef FOVEA_RUNTIME_DEVICE_H
#define FOVEA_RUNTIME_DEVICE_H

#include "abi/Abi.h"
#include "runtime/include/fovea/runtime.h"

#include <chrono>
#include <cstddef>
#include <cstdint>
#include <cstring>
#include <memory>
#include <string>
#include <string_view>
#include <vector>

namespace fovea {

/// A kernel of a module, and the shape of its launches.
struct DeviceKernel {
  std::string name;
  uint32_t threads;     ///< of a block, along x
  uint32_t sharedBytes; ///< that a launch asks for
};

/// Code for one architecture. The texts and bytes outlive the loading only.
struct DeviceCode {
  std::string where; ///< for messages: the artifact
  std::string chip;  ///< sm_80, ...
  std::string_view ptx;
  std::string_view cubin; ///< may be empty
  std::vector<DeviceKernel> kernels;
};

/// Blocks of a kernel with its parameters: the words, then a tensor map for each of `maps`.
struct DeviceLaunch {
  size_t kernel;  ///< its number in the module
  int64_t blocks; ///< at least one
  const int64_t *words;
  int64_t wordCount;
  const fovea_tensor_map *maps;
  int64_t mapCount; ///< at most FOVEA_MAX_LAUNCH_MAPS
};

class DeviceGraph;

/// Loaded code. Must not outlive its device.
class DeviceModule {
public:
  virtual ~DeviceModule() = default;
  virtual void launch(const DeviceLaunch &what) = 0;
  /// For launches of this module, which must outlive it.
  virtual std::unique_ptr<DeviceGraph> makeGraph();
};

/// Launches that are recorded, then run in their order: all of a call. Recorded again for the next
/// call, they are often the same kernels, and only some sizes differ; a device may then run them as
/// one piece of work, of which it is told the differences. This one launches each.
class DeviceGraph {
public:
  explicit DeviceGraph(DeviceModule &module) : launcher(module) {}
  virtual ~DeviceGraph() = default;
  DeviceGraph(const DeviceGraph &) = delete;

  /// Begins a recording.
  void begin();
  void add(const DeviceLaunch &what);
  /// Makes ready what was recorded, so that its runs take no longer than they must.
  virtual void prepare() {}
  /// Runs what was recorded, as often as it is called.
  virtual void run();

protected:
  struct Node {
    size_t kernel = 0;
    int64_t blocks = 0;
    std::vector<int64_t> words;
    std::vector<fovea_tensor_map> maps;
    bool changed = false; ///< since commitTopology()
    DeviceLaunch launch() const;
  };

  /// Whether what is recorded are the kernels that stood here at the last commitTopology().
  bool isSameTopology() const { return !otherKernels && length == committedLength; }
  /// From here changes count.
  void commitTopology();

  /// The first `length` are the recording.
  std::vector<Node> nodes;
  size_t length = 0;
  bool prepared = false; ///< since begin()

private:
  DeviceModule &launcher;
  bool otherKernels = false;
  size_t committedLength = 0;
};

inline std::unique_ptr<DeviceGraph> DeviceModule::makeGraph() {
  return std::make_unique<DeviceGraph>(*this);
}

inline void DeviceGraph::begin() {
  length = 0;
  prepared = false;
}

inline void DeviceGraph::add(const DeviceLaunch &what) {
  if (nodes.size() == length)
    nodes.emplace_back();
  Node &node = nodes[length++];
  auto differ = [](const auto &known, const auto *now, int64_t count) {
    size_t bytes = static_cast<size_t>(count) * sizeof(*now);
    return known.size() != static_cast<size_t>(count) ||
           (bytes && std::memcmp(known.data(), now, bytes) != 0);
  };
  otherKernels |= node.kernel != what.kernel;
  if (node.kernel == what.kernel && node.blocks == what.blocks &&
      !differ(node.words, what.words, what.wordCount) &&
      !differ(node.maps, what.maps, what.mapCount))
    return;
  node.changed = true;
  node.kernel = what.kernel;
  node.blocks = what.blocks;
  node.words.assign(what.words, what.words + what.wordCount);
  node.maps.assign(what.maps, what.maps + what.mapCount);
}

inline void DeviceGraph::run() {
  for (size_t i = 0; i < length; ++i)
    launcher.launch(nodes[i].launch());
}

inline DeviceLaunch DeviceGraph::Node::launch() const {
  return {kernel,       blocks,
          words.data(), static_cast<int64_t>(words.size()),
          maps.data(),  static_cast<int64_t>(maps.size())};
}

inline void DeviceGraph::commitTopology() {
  for (Node &node : nodes)
    node.changed = false;
  otherKernels = false;
  committedLength = length;
}

/// A point in the order of a device's work, and when it was reached. Must not outlive its device.
class DeviceEvent {
public:
  virtual ~DeviceEvent() = default;
  /// Puts it behind all that was asked for so far.
  virtual void record() = 0;
  /// Seconds from when `earlier`, of the same device, was reached to when this was; waits for that.
  virtual double secondsSince(const DeviceEvent &earlier) = 0;
};

/// The event of a device that has done its work when it is asked for the next: this machine's
/// clock.
class HostEvent : public DeviceEvent {
public:
  void record() override { time = std::chrono::steady_clock::now(); }
  double secondsSince(const DeviceEvent &earlier) override {
    return std::chrono::duration<double>(time - static_cast<const HostEvent &>(earlier).time)
        .count();
  }

private:
  std::chrono::steady_clock::time_point time;
};

class Device {
public:
  virtual ~Device() = default;

  /// In messages: "the emulator", "CUDA device 0 (NVIDIA H200)".
  const std::string &name() const { return deviceName; }
  /// What tensors in its memory name.
  fovea_device number() const { return deviceNumber; }
  /// How well the device runs code for `chip`: -1 not at all; of two numbers the higher is better.
  virtual int rank(const std::string &chip) const = 0;
  /// Blocks that run at once if each takes a multiprocessor: those of a persistent kernel.
  virtual int64_t multiprocessors() const = 0;

  /// Memory that nobody has written, aligned to 256. `what` is for messages.
  virtual uint64_t allocate(uint64_t bytes, const std::string &what) = 0;
  virtual void release(uint64_t address) noexcept = 0;
  /// Memory with these bytes, which nobody writes and which outlive it.
  virtual uint64_t upload(const void *data, uint64_t bytes, const std::string &what) {
    uint64_t address = allocate(bytes, what);
    copyIn(address, data, bytes);
    return address;
  }
  /// What an allocation holds is of no use any more.
  virtual void forget(uint64_t /*address*/) {}
  /// What `from` points to may change as soon as this returns.
  virtual void copyIn(uint64_t to, const void *from, uint64_t bytes) = 0;
  /// `to` holds the bytes after the next synchronize(), which is to come while it lives; until then
  /// it is this copy's alone.
  virtual void copyOut(void *to, uint64_t from, uint64_t bytes) = 0;
  /// Within the device's memory; the two do not overlap.
  virtual void copy(uint64_t to, uint64_t from, uint64_t bytes) = 0;
  virtual void fill(uint64_t to, uint8_t value, uint64_t bytes) = 0;

  /// What speaks against reading, or writing if `writes`, these bytes, of an address that the
  /// caller gave: "lies in the memory of the CPU"; "" if nothing that is known does.
  virtual std::string objection(uint64_t address, uint64_t bytes, bool writes) = 0;

  /// From now on work is asked for on the caller's stream, behind all that was asked for before
  /// there and here. False if there are no streams.
  virtual bool enter(void * /*stream*/) { return false; }
  /// Work goes to where it went before enter(), behind what was asked for meanwhile.
  virtual void leave() noexcept {}

  virtual std::unique_ptr<DeviceModule> load(const DeviceCode &code) = 0;
  /// Waits until all that was asked for is done; reports what failed meanwhile. Nothing else waits,
  /// but for releases and copies of megabytes.
  virtual void synchronize() = 0;
  virtual std::unique_ptr<DeviceEvent> makeEvent() = 0;

  /// Whether buffers are to be as large as needed and new for each call, so that an access outside
  /// of one or to bytes that nobody wrote is found.
  virtual bool findsFaults() const { return false; }

protected:
  Device(std::string name, fovea_device number)
      : deviceName(std::move(name)), deviceNumber(number) {}

private:
  std::string deviceName;
  fovea_device deviceNumber;
};

/// Device memory that only grows; see Device::findsFaults for the exception.
class DeviceBuffer {
public:
  DeviceBuffer() = default;
  ~DeviceBuffer();
  DeviceBuffer(DeviceBuffer &&other) noexcept;
  DeviceBuffer &operator=(DeviceBuffer &&) = delete;

  /// The address of at least `bytes` bytes; contents are not kept.
  uint64_t ensure(Device &device, uint64_t bytes, const std::string &what);
  uint64_t address() const { return at; }
  /// Whether one of these bytes is in it.
  bool overlaps(uint64_t address, uint64_t bytes) const {
    return address < at + capacity && at < address + bytes;
  }

private:
  Device *owner = nullptr;
  uint64_t at = 0, capacity = 0;
};

/// The device of that name; null for "cpu" and "". `threads`: of this machine, for the emulator; 0:
/// one for each core. Throws Failure if there is none.
///
///   cpu                            no device
///   cuda, cuda:N                   an NVIDIA GPU, the first or the one of that number
///   emulator, emulator:early|late  no hardware; when asynchronous work is done
std::unique_ptr<Device> makeDevice(const std::string &name, int threads);

std::unique_ptr<Device> makeCudaDevice(int number);

} // namespace fovea

#endif // FOVEA_RUNTIME_DEVICE_H
