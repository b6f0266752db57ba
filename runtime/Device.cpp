// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Devices by name. The emulator is a shared library of its own beside this one, opened when it is
// asked for: who runs models on a CPU or a GPU does not carry it.
#include "runtime/Device.h"

#include "runtime/EmulatorLibrary.h"
#include "runtime/status/Status.h"

#include <algorithm>
#include <dlfcn.h>
#include <unistd.h>

namespace fovea {

DeviceBuffer::~DeviceBuffer() {
  if (owner)
    owner->release(at);
}

DeviceBuffer::DeviceBuffer(DeviceBuffer &&other) noexcept
    : owner(other.owner), at(other.at), capacity(other.capacity) {
  other.owner = nullptr;
  other.at = other.capacity = 0;
}

uint64_t DeviceBuffer::ensure(Device &device, uint64_t bytes, const std::string &what) {
  bytes = bytes ? bytes : 1; // a buffer of nothing has an address too
  if (owner && (device.findsFaults() ? capacity == bytes : capacity >= bytes)) {
    device.forget(at);
    return at;
  }
  // Ahead of what grows with each call, as an arena may with a cache's length: memory that is new
  // makes everybody wait.
  if (owner && !device.findsFaults())
    bytes = std::max(bytes, capacity + capacity / 2);
  if (owner)
    owner->release(at);
  owner = nullptr;
  at = device.allocate(bytes, what);
  capacity = bytes;
  owner = &device;
  return at;
}

/// The folder of the file that this code was loaded from.
static std::string ownFolder() {
  Dl_info info;
  if (!::dladdr(reinterpret_cast<void *>(&makeDevice), &info) || !info.dli_fname)
    return ".";
  std::string file = info.dli_fname;
  size_t slash = file.rfind('/');
  return slash == std::string::npos ? "." : file.substr(0, slash);
}

static std::unique_ptr<Device> makeEmulator(const std::string &schedule, int threads) {
  std::string folder = ownFolder();
  // Beside this library; or, where this is part of a program, in the lib/ beside its bin/.
  std::string path = folder + "/libfovea-emulator.so";
  if (::access(path.c_str(), R_OK) != 0)
    path = folder + "/../lib/libfovea-emulator.so";
  // Never closed: its code may be on the stack of a failure that is still being told.
  void *handle = ::dlopen(path.c_str(), RTLD_NOW | RTLD_LOCAL);
  if (!handle) {
    const char *reason = ::dlerror();
    throw Failure{FOVEA_UNSUPPORTED,
                  "device 'emulator': expects libfovea-emulator.so beside libfovea-runtime.so: " +
                      std::string(reason ? reason : "cannot be loaded")};
  }
  auto create = reinterpret_cast<CreateEmulator *>(::dlsym(handle, "fovea_emulator_create"));
  Device *device = create ? create(FOVEA_VERSION, schedule == "late", threads) : nullptr;
  if (!device)
    throw Failure{FOVEA_UNSUPPORTED,
                  "device 'emulator': " + path +
                      " belongs to another version of Fovea, expected " FOVEA_VERSION};
  return std::unique_ptr<Device>(device);
}

std::unique_ptr<Device> makeDevice(const std::string &name, int threads) {
  size_t colon = name.find(':');
  std::string kind = name.substr(0, colon),
              option = colon == std::string::npos ? "" : name.substr(colon + 1);
  if (name == "cpu" || name.empty())
    return nullptr;
  if (kind == "emulator" && (colon == std::string::npos || option == "early" || option == "late"))
    return makeEmulator(option, threads);
  bool isNumber = !option.empty() && option.size() < 5 &&
                  option.find_first_not_of("0123456789") == std::string::npos;
  if (kind == "cuda" && (colon == std::string::npos || isNumber))
    return makeCudaDevice(isNumber ? std::stoi(option) : 0);
  failInvalid("device '" + name +
              "': expects cpu, cuda, cuda:N, emulator, emulator:early or "
              "emulator:late");
}

} // namespace fovea
