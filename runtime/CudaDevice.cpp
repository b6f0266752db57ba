// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// NVIDIA GPUs by the driver's own interface, which is opened when it is asked for: nothing of CUDA
// is needed to build or to start. A cubin is loaded where there is one for this very chip, else the
// driver compiles PTX. Refuses a machine without driver or device, and says which is missing.
//
// Written against the CUDA Driver API's reference; names end in _v2 where the driver has two.
#include "runtime/Device.h"
#include "runtime/Status.h"
#include "runtime/TensorMap.h"

#include <cstdlib>
#include <dlfcn.h>

namespace fovea {

namespace {

using CUresult = int;
using CUdevice = int;
using CUcontext = struct CUctx_st *;
using CUmodule = struct CUmod_st *;
using CUfunction = struct CUfunc_st *;
using CUstream = struct CUstream_st *;
using CUevent = struct CUevent_st *;
using CUdeviceptr = unsigned long long;

constexpr CUresult outOfMemory = 2;
constexpr int majorAttribute = 75, minorAttribute = 76; // CUdevice_attribute
constexpr int errorLog = 5, errorLogSize = 6;           // CUjit_option
constexpr int dynamicSharedBytes = 8;                   // CUfunction_attribute
constexpr uint32_t sharedWithoutAsking = 48 * 1024;
constexpr int64_t maxBlocks = 0x7fffffff;

/// CUtensorMap: opaque, and the driver wants it aligned.
struct alignas(64) EncodedMap {
  uint64_t words[16];
};
constexpr int noInterleave = 0, promoteTo256 = 3, fillZero = 0; // CUtensorMap...

/// The driver's functions. One for the process: the library stays open.
struct Driver {
  CUresult (*init)(unsigned);
  CUresult (*deviceCount)(int *);
  CUresult (*deviceGet)(CUdevice *, int);
  CUresult (*deviceName)(char *, int, CUdevice);
  CUresult (*deviceAttribute)(int *, int, CUdevice);
  CUresult (*contextRetain)(CUcontext *, CUdevice);
  CUresult (*contextRelease)(CUdevice);
  CUresult (*contextPush)(CUcontext);
  CUresult (*contextPop)(CUcontext *);
  CUresult (*synchronize)();
  CUresult (*allocate)(CUdeviceptr *, size_t);
  CUresult (*release)(CUdeviceptr);
  CUresult (*copyIn)(CUdeviceptr, const void *, size_t);
  CUresult (*copyOut)(void *, CUdeviceptr, size_t);
  CUresult (*copy)(CUdeviceptr, CUdeviceptr, size_t);
  CUresult (*fill)(CUdeviceptr, unsigned char, size_t);
  CUresult (*loadModule)(CUmodule *, const void *, unsigned, int *, void **);
  CUresult (*unloadModule)(CUmodule);
  CUresult (*getFunction)(CUfunction *, CUmodule, const char *);
  CUresult (*setAttribute)(CUfunction, int, int);
  CUresult (*launch)(CUfunction, unsigned, unsigned, unsigned, unsigned, unsigned, unsigned,
                     unsigned, CUstream, void **, void **);
  CUresult (*makeEvent)(CUevent *, unsigned);
  CUresult (*endEvent)(CUevent);
  CUresult (*recordEvent)(CUevent, CUstream);
  CUresult (*awaitEvent)(CUevent);
  CUresult (*elapsed)(float *, CUevent, CUevent);
  CUresult (*errorString)(CUresult, const char **);
  /// Null if the driver is older than CUDA 12.
  CUresult (*encodeMap)(EncodedMap *, int, uint32_t, void *, const uint64_t *, const uint64_t *,
                        const uint32_t *, const uint32_t *, int, int, int, int);

  /// Throws Failure if there is no driver or it is too old.
  static const Driver &get();
};

[[noreturn]] void failUnsupported(const std::string &what) {
  throw Failure{FOVEA_UNSUPPORTED, "device 'cuda': " + what};
}

Driver open() {
  void *library = ::dlopen("libcuda.so.1", RTLD_NOW | RTLD_LOCAL);
  if (!library) {
    const char *reason = ::dlerror();
    failUnsupported("expects NVIDIA's driver on this machine: " +
                    std::string(reason ? reason : "libcuda.so.1 cannot be opened"));
  }
  Driver driver;
  auto findIfThere = [&](auto &function, const char *name) {
    function =
        reinterpret_cast<std::remove_reference_t<decltype(function)>>(::dlsym(library, name));
  };
  auto find = [&](auto &function, const char *name) {
    findIfThere(function, name);
    if (!function)
      failUnsupported(std::string("NVIDIA's driver is too old: it lacks ") + name);
  };
  find(driver.init, "cuInit");
  find(driver.deviceCount, "cuDeviceGetCount");
  find(driver.deviceGet, "cuDeviceGet");
  find(driver.deviceName, "cuDeviceGetName");
  find(driver.deviceAttribute, "cuDeviceGetAttribute");
  find(driver.contextRetain, "cuDevicePrimaryCtxRetain");
  find(driver.contextRelease, "cuDevicePrimaryCtxRelease_v2");
  find(driver.contextPush, "cuCtxPushCurrent_v2");
  find(driver.contextPop, "cuCtxPopCurrent_v2");
  find(driver.synchronize, "cuCtxSynchronize");
  find(driver.allocate, "cuMemAlloc_v2");
  find(driver.release, "cuMemFree_v2");
  find(driver.copyIn, "cuMemcpyHtoD_v2");
  find(driver.copyOut, "cuMemcpyDtoH_v2");
  find(driver.copy, "cuMemcpyDtoD_v2");
  find(driver.fill, "cuMemsetD8_v2");
  find(driver.loadModule, "cuModuleLoadDataEx");
  find(driver.unloadModule, "cuModuleUnload");
  find(driver.getFunction, "cuModuleGetFunction");
  find(driver.setAttribute, "cuFuncSetAttribute");
  find(driver.launch, "cuLaunchKernel");
  find(driver.makeEvent, "cuEventCreate");
  find(driver.endEvent, "cuEventDestroy_v2");
  find(driver.recordEvent, "cuEventRecord");
  find(driver.awaitEvent, "cuEventSynchronize");
  find(driver.elapsed, "cuEventElapsedTime");
  find(driver.errorString, "cuGetErrorString");
  findIfThere(driver.encodeMap, "cuTensorMapEncodeTiled");
  return driver;
}

const Driver &Driver::get() {
  static const Driver driver = open();
  return driver;
}

std::string text(const Driver &driver, CUresult result) {
  const char *words = nullptr;
  driver.errorString(result, &words);
  return words ? words : "error " + std::to_string(result);
}

/// Throws Failure if a function of the driver failed.
void check(const Driver &driver, CUresult result, const std::string &what) {
  if (result != 0)
    throw Failure{result == outOfMemory ? FOVEA_OUT_OF_MEMORY : FOVEA_INTERNAL,
                  what + ": " + text(driver, result)};
}

/// Makes a context current on this thread while it lives: the host's own stays what it was.
class Current {
public:
  Current(const Driver &driver, CUcontext context) : driver(driver) {
    check(driver, driver.contextPush(context), "cuCtxPushCurrent");
  }
  ~Current() {
    CUcontext popped;
    driver.contextPop(&popped);
  }
  Current(const Current &) = delete;
  Current &operator=(const Current &) = delete;

private:
  const Driver &driver;
};

/// Throws Failure, which begins with `where`, if a rule is broken or the driver makes none.
EncodedMap encode(const Driver &driver, const fovea_tensor_map &map, const std::string &where) {
  checkTensorMap(map, where);
  if (!driver.encodeMap)
    throw Failure{FOVEA_UNSUPPORTED,
                  where + ": NVIDIA's driver is too old: it lacks cuTensorMapEncodeTiled"};
  int element = 0; // CUtensorMapDataType
  switch (map.element) {
  case FOVEA_MAP_I8:
    element = 0;
    break;
  case FOVEA_MAP_F16:
    element = 6;
    break;
  case FOVEA_MAP_F32:
    element = 7;
    break;
  case FOVEA_MAP_BF16:
    element = 9;
    break;
  }
  uint64_t sizes[5], strides[4];
  uint32_t box[5], elementStrides[5];
  for (int64_t axis = 0; axis < map.rank; ++axis) {
    sizes[axis] = static_cast<uint64_t>(map.sizes[axis]);
    box[axis] = static_cast<uint32_t>(map.box[axis]);
    elementStrides[axis] = 1;
    if (axis > 0)
      strides[axis - 1] = static_cast<uint64_t>(map.strides[axis - 1]);
  }
  int swizzle = map.swizzle == 128 ? 3 : static_cast<int>(map.swizzle / 32);
  EncodedMap encoded;
  check(driver,
        driver.encodeMap(&encoded, element, static_cast<uint32_t>(map.rank),
                         reinterpret_cast<void *>(map.address), sizes, strides, box, elementStrides,
                         noInterleave, swizzle, promoteTo256, fillZero),
        where);
  return encoded;
}

class CudaModule : public DeviceModule {
public:
  CudaModule(const Driver &driver, CUcontext context, const DeviceCode &code, bool takesCubin,
             const std::string &device)
      : driver(driver), context(context), device(device), kernels(code.kernels) {
    Current current(driver, context);
    // The driver reads PTX up to a zero byte.
    std::string image(takesCubin && !code.cubin.empty() ? code.cubin : code.ptx);
    std::string log(8192, '\0');
    int options[] = {errorLog, errorLogSize};
    void *values[] = {log.data(), reinterpret_cast<void *>(log.size())};
    CUresult result = driver.loadModule(&module, image.c_str(), 2, options, values);
    if (result != 0)
      throw Failure{FOVEA_INTERNAL, code.where + ": its code for " + code.chip +
                                        " cannot be loaded on " + device + ": " +
                                        text(driver, result) + "\n" + log.c_str()};
    try {
      for (const DeviceKernel &kernel : kernels) {
        CUfunction function;
        check(driver, driver.getFunction(&function, module, kernel.name.c_str()),
              device + ": kernel '" + kernel.name + "'");
        if (kernel.sharedBytes > sharedWithoutAsking)
          check(driver,
                driver.setAttribute(function, dynamicSharedBytes,
                                    static_cast<int>(kernel.sharedBytes)),
                device + ": kernel '" + kernel.name + "' with " +
                    std::to_string(kernel.sharedBytes) + " bytes of shared memory");
        functions.push_back(function);
      }
    } catch (const Failure &) {
      driver.unloadModule(module);
      throw;
    }
  }
  ~CudaModule() override {
    driver.contextPush(context);
    driver.unloadModule(module);
    CUcontext popped;
    driver.contextPop(&popped);
  }

  void launch(const DeviceLaunch &what) override {
    const DeviceKernel &kernel = kernels.at(what.kernel);
    Current current(driver, context);
    takeParameters(what);
    check(driver,
          driver.launch(functions[what.kernel], static_cast<unsigned>(what.blocks), 1, 1,
                        kernel.threads, 1, 1, kernel.sharedBytes, nullptr, parameters.data(),
                        nullptr),
          device + ": launch of kernel '" + kernel.name + "'");
  }

private:
  /// Checks a launch and makes `parameters` point to its own. Null stands behind them: the driver
  /// reads as many as the kernel has.
  void takeParameters(const DeviceLaunch &what) {
    const DeviceKernel &kernel = kernels.at(what.kernel);
    if (what.blocks > maxBlocks)
      failInvalid(device + ": kernel '" + kernel.name + "' expects at most " +
                  std::to_string(maxBlocks) + " blocks, got " + std::to_string(what.blocks));
    parameters.clear();
    for (int64_t i = 0; i < what.wordCount; ++i)
      parameters.push_back(const_cast<int64_t *>(what.words + i));
    for (int64_t i = 0; i < what.mapCount; ++i) {
      maps[i] = encode(driver, what.maps[i], tensorMapPlace(device, kernel.name, i));
      parameters.push_back(&maps[i]);
    }
    parameters.push_back(nullptr);
  }

  const Driver &driver;
  CUcontext context;
  std::string device;
  CUmodule module = nullptr;
  std::vector<DeviceKernel> kernels;
  std::vector<CUfunction> functions;
  std::vector<void *> parameters;
  EncodedMap maps[FOVEA_MAX_LAUNCH_MAPS];
};

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
