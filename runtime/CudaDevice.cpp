// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// NVIDIA GPUs by the driver's own interface (CudaDriver.h). Refuses a machine without driver or
// device, and says which is missing.
#include "runtime/CudaModule.h"
#include "runtime/Status.h"

#include <cstdlib>

namespace fovea {

using namespace cuda;

namespace {

constexpr int majorAttribute = 75, minorAttribute = 76; // CUdevice_attribute

class CudaEvent : public DeviceEvent {
public:
  CudaEvent(const Driver &driver, CUcontext context, const std::string &device)
      : driver(driver), context(context), device(device) {
    Current current(driver, context);
    check(driver, driver.makeEvent(&event, 0), device + ": an event");
  }
  ~CudaEvent() override {
    driver.contextPush(context);
    driver.endEvent(event);
    CUcontext popped;
    driver.contextPop(&popped);
  }
  void record() override {
    Current current(driver, context);
    check(driver, driver.recordEvent(event, nullptr), device + ": an event");
  }
  double secondsSince(const DeviceEvent &earlier) override {
    Current current(driver, context);
    check(driver, driver.awaitEvent(event), device + ": a kernel failed");
    float milliseconds = 0;
    check(driver,
          driver.elapsed(&milliseconds, static_cast<const CudaEvent &>(earlier).event, event),
          device + ": the time between two events");
    return static_cast<double>(milliseconds) / 1e3;
  }

private:
  const Driver &driver;
  CUcontext context;
  std::string device;
  CUevent event = nullptr;
};

class CudaDevice : public Device {
public:
  CudaDevice(const Driver &driver, CUdevice device, CUcontext context, std::string name, int major,
             int minor)
      : Device(std::move(name)), driver(driver), device(device), context(context), major(major),
        minor(minor) {}
  ~CudaDevice() override { driver.contextRelease(device); }

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
    Current current(driver, context);
    CUdeviceptr address = 0;
    check(driver, driver.allocate(&address, bytes ? bytes : 1),
          name() + ": " + std::to_string(bytes) + " bytes for " + what);
    return address;
  }
  void release(uint64_t address) noexcept override {
    driver.contextPush(context);
    driver.release(address);
    CUcontext popped;
    driver.contextPop(&popped);
  }
  void copyIn(uint64_t to, const void *from, uint64_t bytes) override {
    if (bytes == 0)
      return;
    Current current(driver, context);
    check(driver, driver.copyIn(to, from, bytes), name() + ": a copy to it");
  }
  void copyOut(void *to, uint64_t from, uint64_t bytes) override {
    if (bytes == 0)
      return;
    Current current(driver, context);
    check(driver, driver.copyOut(to, from, bytes), name() + ": a copy from it");
  }
  void copy(uint64_t to, uint64_t from, uint64_t bytes) override {
    if (bytes == 0)
      return;
    Current current(driver, context);
    check(driver, driver.copy(to, from, bytes), name() + ": a copy within it");
  }
  void fill(uint64_t to, uint8_t value, uint64_t bytes) override {
    if (bytes == 0)
      return;
    Current current(driver, context);
    check(driver, driver.fill(to, value, bytes), name() + ": a fill");
  }
  std::unique_ptr<DeviceModule> load(const DeviceCode &code) override {
    bool exact = std::strtol(code.chip.c_str() + 3, nullptr, 10) == 10 * major + minor;
    return std::make_unique<CudaModule>(driver, context, code, exact, name());
  }
  void synchronize() override {
    Current current(driver, context);
    check(driver, driver.synchronize(), name() + ": a kernel failed");
  }
  std::unique_ptr<DeviceEvent> makeEvent() override {
    return std::make_unique<CudaEvent>(driver, context, name());
  }

private:
  const Driver &driver;
  CUdevice device;
  CUcontext context;
  int major, minor;
};

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
  int major = 0, minor = 0;
  check(driver, driver.deviceGet(&device, number), "cuDeviceGet");
  check(driver, driver.deviceName(words, sizeof(words) - 1, device), "cuDeviceGetName");
  check(driver, driver.deviceAttribute(&major, majorAttribute, device), "cuDeviceGetAttribute");
  check(driver, driver.deviceAttribute(&minor, minorAttribute, device), "cuDeviceGetAttribute");
  CUcontext context;
  check(driver, driver.contextRetain(&context, device), "cuDevicePrimaryCtxRetain");
  std::string name = "CUDA device " + std::to_string(number) + " (" + words + ")";
  return std::make_unique<CudaDevice>(driver, device, context, std::move(name), major, minor);
}

} // namespace fovea
