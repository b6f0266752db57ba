// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// See CudaModule.h. Tensor maps are encoded when a launch has some.
#include "runtime/CudaModule.h"

#include "runtime/CudaGraph.h"
#include "runtime/TensorMap.h"
#include "runtime/status/Status.h"

namespace fovea::cuda {

static constexpr int errorLog = 5, errorLogSize = 6; // CUjit_option
static constexpr int dynamicSharedBytes = 8;         // CUfunction_attribute
static constexpr uint32_t sharedWithoutAsking = 48 * 1024;
static constexpr int64_t maxBlocks = 0x7fffffff;
static constexpr int noInterleave = 0, promoteTo256 = 3, fillZero = 0; // CUtensorMap...

/// Throws Failure, which begins with `where`, if a rule is broken or the driver makes none.
static EncodedMap encode(const Driver &driver, const fovea_tensor_map &map,
                         const std::string &where) {
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

CudaModule::CudaModule(const Queue &queue, const DeviceCode &code, bool takesCubin,
                       const std::string &device)
    : queue(queue), device(device), kernels(code.kernels) {
  const Driver &driver = queue.driver;
  Current current(queue);
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
        check(
            driver,
            driver.setAttribute(function, dynamicSharedBytes, static_cast<int>(kernel.sharedBytes)),
            device + ": kernel '" + kernel.name + "' with " + std::to_string(kernel.sharedBytes) +
                " bytes of shared memory");
      functions.push_back(function);
    }
  } catch (const Failure &) {
    driver.unloadModule(module);
    throw;
  }
}

CudaModule::~CudaModule() {
  const Driver &driver = queue.driver;
  driver.contextPush(queue.context);
  driver.awaitStream(queue.stream); // where its kernels may run still
  driver.unloadModule(module);
  CUcontext popped;
  driver.contextPop(&popped);
}

void CudaModule::launch(const DeviceLaunch &what) {
  Current current(queue);
  KernelNode node = describe(what);
  check(queue.driver,
        queue.driver.launch(node.function, node.grid[0], 1, 1, node.block[0], 1, 1,
                            node.sharedBytes, queue.stream, node.parameters, nullptr),
        device + ": launch of kernel '" + kernels[what.kernel].name + "'");
}

std::unique_ptr<DeviceGraph> CudaModule::makeGraph() { return std::make_unique<CudaGraph>(*this); }

KernelNode CudaModule::describe(const DeviceLaunch &what) {
  const DeviceKernel &kernel = kernels.at(what.kernel);
  if (what.blocks > maxBlocks)
    failInvalid(device + ": kernel '" + kernel.name + "' expects at most " +
                std::to_string(maxBlocks) + " blocks, got " + std::to_string(what.blocks));
  parameters.clear();
  for (int64_t i = 0; i < what.wordCount; ++i)
    parameters.push_back(const_cast<int64_t *>(what.words + i));
  for (int64_t i = 0; i < what.mapCount; ++i) {
    maps[i] = encode(queue.driver, what.maps[i], tensorMapPlace(device, kernel.name, i));
    parameters.push_back(&maps[i]);
  }
  parameters.push_back(nullptr); // the driver reads as many as the kernel has
  return {functions[what.kernel], {static_cast<unsigned>(what.blocks), 1, 1},
          {kernel.threads, 1, 1}, kernel.sharedBytes,
          parameters.data(),      nullptr};
}

} // namespace fovea::cuda
