// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// NVIDIA GPUs by the driver's own interface (CudaDriver.h). Refuses a machine without driver or
// device, and says which is missing.
#include "runtime/CudaModule.h"
#include "runtime/CudaStreams.h"
#include "runtime/status/Status.h"

#include <algorithm>
#include <cstdlib>
#include <cstring>

namespace fovea {

using namespace cuda;

namespace {

// CUdevice_attribute
constexpr int multiprocessorsAttribute = 16, majorAttribute = 75, minorAttribute = 76;

/// Bytes of pinned memory through which small copies go.
constexpr uint64_t stagingBytes = 4 << 20;
constexpr unsigned nonBlocking = 1; // CUstream_flags
// CUpointer_attribute, CUmemorytype
constexpr int memoryTypeAttribute = 2, isManagedAttribute = 8, ordinalAttribute = 9;
constexpr unsigned onDevice = 2;

class CudaEvent : public DeviceEvent {
public:
  CudaEvent(const Queue &queue, const std::string &device) : queue(queue), device(device) {
    Current current(queue);
    check(queue.driver, queue.driver.makeEvent(&event, 0), device + ": an event");
  }
  ~CudaEvent() override {
    queue.driver.contextPush(queue.context);
    queue.driver.endEvent(event);
    CUcontext popped;
    queue.driver.contextPop(&popped);
  }
  void record() override {
    Current current(queue);
    check(queue.driver, queue.driver.recordEvent(event, queue.stream), device + ": an event");
  }
  double secondsSince(const DeviceEvent &earlier) override {
    Current current(queue);
    check(queue.driver, queue.driver.awaitEvent(event), device + ": a kernel failed");
    float milliseconds = 0;
    check(queue.driver,
          queue.driver.elapsed(&milliseconds, static_cast<const CudaEvent &>(earlier).event, event),
          device + ": the time between two events");
    return static_cast<double>(milliseconds) / 1e3;
  }

private:
  const Queue &queue; ///< the device's
  std::string device;
  CUevent event = nullptr;
};

/// All work goes to one stream of its own, which does not wait for the host's other streams, or for
/// a time to a caller's. A small copy goes through pinned memory: the driver takes it as it takes a
/// launch, where for other memory it would wait or copy itself.
class CudaDevice : public Device {
public:
  CudaDevice(const Driver &driver, CUdevice device, CUcontext context, std::string name, int number,
             int major, int minor, int processors)
      : Device(std::move(name), {FOVEA_CUDA, number}), driver(driver), device(device),
        queue{driver, context, nullptr}, streams(queue, this->name()), major(major), minor(minor),
        processors(processors) {
    try {
      Current current(queue);
      check(driver, driver.makeStream(&queue.stream, nonBlocking), this->name() + ": a stream");
      check(driver, driver.allocatePinned(&staging, stagingBytes, 0),
            this->name() + ": pinned memory");
    } catch (const Failure &) {
      end();
      throw;
    }
  }
  ~CudaDevice() override { end(); }

  int64_t multiprocessors() const override { return processors; }

  /// PTX runs on its own architecture and later ones; with an `a` at its end, on its own alone.
  int rank(const std::string &chip) const override {
    if (chip.compare(0, 3, "sm_") != 0)
      return -1;
    char *end = nullptr;
    auto number = static_cast<int>(std::strtol(chip.c_str() + 3, &end, 10));
    int own = 10 * major + minor;
    if (*end ? number != own : number > own)
      return -1;
    return 2 * number + (*end ? 1 : 0);
  }

  uint64_t allocate(uint64_t bytes, const std::string &what) override {
    Current current(queue);
    CUdeviceptr address = 0;
    check(driver, driver.allocate(&address, bytes ? bytes : 1),
          name() + ": " + std::to_string(bytes) + " bytes for " + what);
    return address;
  }
  void release(uint64_t address) noexcept override {
    driver.contextPush(queue.context);
    driver.awaitStream(queue.stream); // what uses it may be under way
    driver.release(address);
    CUcontext popped;
    driver.contextPop(&popped);
  }
  void copyIn(uint64_t to, const void *from, uint64_t bytes) override {
    if (bytes == 0)
      return;
    Current current(queue);
    if (void *place = stage(bytes))
      from = std::memcpy(place, from, bytes);
    check(driver, driver.copyIn(to, from, bytes, queue.stream), name() + ": a copy to it");
  }
  void copyOut(void *to, uint64_t from, uint64_t bytes) override {
    if (bytes == 0)
      return;
    Current current(queue);
    void *place = stage(bytes);
    CUresult result = driver.copyOut(place ? place : to, from, bytes, queue.stream);
    if (result != 0)
      arrivals.clear(); // whose memory may be gone when somebody waits again
    check(driver, result, name() + ": a copy from it");
    if (place)
      arrivals.push_back({to, place, bytes});
  }
  void copy(uint64_t to, uint64_t from, uint64_t bytes) override {
    if (bytes == 0)
      return;
    Current current(queue);
    check(driver, driver.copy(to, from, bytes, queue.stream), name() + ": a copy within it");
  }
  void fill(uint64_t to, uint8_t value, uint64_t bytes) override {
    if (bytes == 0)
      return;
    Current current(queue);
    check(driver, driver.fill(to, value, bytes, queue.stream), name() + ": a fill");
  }
  std::string objection(uint64_t address, uint64_t bytes, bool writes) override;
  bool enter(void *stream) override {
    streams.enter(static_cast<CUstream>(stream));
    return true;
  }
  void leave() noexcept override { streams.leave(); }
  std::unique_ptr<DeviceModule> load(const DeviceCode &code) override {
    bool exact = std::strtol(code.chip.c_str() + 3, nullptr, 10) == 10 * major + minor;
    return std::make_unique<CudaModule>(queue, code, exact, name());
  }
  void synchronize() override {
    Current current(queue);
    CUresult result = driver.awaitStream(queue.stream);
    for (const Arrival &arrival : arrivals)
      if (result == 0)
        std::memcpy(arrival.to, arrival.from, arrival.bytes);
    arrivals.clear();
    staged = 0;
    check(driver, result, name() + ": a kernel failed");
  }
  std::unique_ptr<DeviceEvent> makeEvent() override {
    return std::make_unique<CudaEvent>(queue, name());
  }

private:
  /// What was copied to pinned memory and is to go on when the stream is done.
  struct Arrival {
    void *to;
    const void *from;
    uint64_t bytes;
  };

  /// Pinned memory until the next synchronize(); null if there is not that much.
  void *stage(uint64_t bytes) {
    if (bytes > stagingBytes - staged)
      return nullptr;
    void *place = static_cast<char *>(staging) + staged;
    staged = std::min((staged + bytes + 63) / 64 * 64, stagingBytes);
    return place;
  }

  void end() noexcept {
    driver.contextPush(queue.context);
    streams.end();
    if (queue.stream) {
      driver.awaitStream(queue.stream);
      driver.endStream(queue.stream);
    }
    if (staging)
      driver.releasePinned(staging);
    CUcontext popped;
    driver.contextPop(&popped);
    driver.contextRelease(device);
  }

  const Driver &driver;
  CUdevice device;
  Queue queue;
  StreamSwitch streams;
  int major, minor, processors;
  void *staging = nullptr;
  uint64_t staged = 0;
  std::vector<Arrival> arrivals;
};

/// Asks the driver, who knows where an address is but not of whose tensor.
std::string CudaDevice::objection(uint64_t address, uint64_t, bool) {
  Current current(queue);
  unsigned type = 0; // CUmemorytype
  int ordinal = -1, isManaged = 0;
  int attributes[] = {memoryTypeAttribute, isManagedAttribute, ordinalAttribute};
  void *values[] = {&type, &isManaged, &ordinal};
  check(driver, driver.askPointer(3, attributes, values, address), name() + ": an address");
  if (type == 0)
    return "the driver does not know";
  if (type == onDevice && !isManaged && ordinal >= 0 && ordinal != number().id)
    return "is in the memory of CUDA device " + std::to_string(ordinal);
  return "";
}

} // namespace

std::unique_ptr<Device> makeCudaDevice(int number) {
  const Driver &driver = Driver::get();
  if (CUresult result = driver.init(0))
    failUnsupported("NVIDIA's driver does not start: " + text(driver, result));
  int count = 0;
  check(driver, driver.deviceCount(&count), "cuDeviceGetCount");
  if (number >= count)
    failUnsupported("expects device " + std::to_string(number) + " of this machine, which has " +
                    std::to_string(count));
  CUdevice device;
  char words[256] = "";
  int major = 0, minor = 0, multiprocessors = 0;
  check(driver, driver.deviceGet(&device, number), "cuDeviceGet");
  check(driver, driver.deviceName(words, sizeof(words) - 1, device), "cuDeviceGetName");
  check(driver, driver.deviceAttribute(&major, majorAttribute, device), "cuDeviceGetAttribute");
  check(driver, driver.deviceAttribute(&minor, minorAttribute, device), "cuDeviceGetAttribute");
  check(driver, driver.deviceAttribute(&multiprocessors, multiprocessorsAttribute, device),
        "cuDeviceGetAttribute");
  CUcontext context;
  check(driver, driver.contextRetain(&context, device), "cuDevicePrimaryCtxRetain");
  std::string name = "CUDA device " + std::to_string(number) + " (" + words + ")";
  return std::make_unique<CudaDevice>(driver, device, context, std::move(name), number, major,
                                      minor, multiprocessors);
}

} // namespace fovea
