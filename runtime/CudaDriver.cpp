// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// See CudaDriver.h. Refuses a machine without driver, and one that is too old, by what it lacks.
#include "runtime/CudaDriver.h"

#include "runtime/status/Status.h"

#include <dlfcn.h>
#include <type_traits>

namespace fovea::cuda {

void failUnsupported(const std::string &what) {
  throw Failure{FOVEA_UNSUPPORTED, "device 'cuda': " + what};
}

static Driver open() {
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
  find(driver.allocate, "cuMemAlloc_v2");
  find(driver.release, "cuMemFree_v2");
  find(driver.allocatePinned, "cuMemHostAlloc");
  find(driver.releasePinned, "cuMemFreeHost");
  find(driver.makeStream, "cuStreamCreate");
  find(driver.endStream, "cuStreamDestroy_v2");
  find(driver.awaitStream, "cuStreamSynchronize");
  find(driver.joinStream, "cuStreamWaitEvent");
  find(driver.contextOfStream, "cuStreamGetCtx");
  find(driver.isCapturing, "cuStreamIsCapturing");
  find(driver.askPointer, "cuPointerGetAttributes");
  find(driver.copyIn, "cuMemcpyHtoDAsync_v2");
  find(driver.copyOut, "cuMemcpyDtoHAsync_v2");
  find(driver.copy, "cuMemcpyDtoDAsync_v2");
  find(driver.fill, "cuMemsetD8Async");
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
  findIfThere(driver.makeGraph, "cuGraphCreate");
  findIfThere(driver.endGraph, "cuGraphDestroy");
  findIfThere(driver.addKernel, "cuGraphAddKernelNode");
  findIfThere(driver.instantiate, "cuGraphInstantiateWithFlags");
  findIfThere(driver.endInstance, "cuGraphExecDestroy");
  findIfThere(driver.setKernel, "cuGraphExecKernelNodeSetParams");
  findIfThere(driver.launchGraph, "cuGraphLaunch");
  if (!driver.makeGraph || !driver.endGraph || !driver.addKernel || !driver.instantiate ||
      !driver.endInstance || !driver.setKernel)
    driver.launchGraph = nullptr;
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

static constexpr CUresult outOfMemory = 2;

void check(const Driver &driver, CUresult result, const std::string &what) {
  if (result != 0)
    throw Failure{result == outOfMemory ? FOVEA_OUT_OF_MEMORY : FOVEA_INTERNAL,
                  what + ": " + text(driver, result)};
}

} // namespace fovea::cuda
