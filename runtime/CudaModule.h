// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Loaded code of CUDA: a cubin where there is one for this very chip, else the driver compiles PTX.
#ifndef FOVEA_RUNTIME_CUDAMODULE_H
#define FOVEA_RUNTIME_CUDAMODULE_H

#include "runtime/CudaDriver.h"
#include "runtime/Device.h"

namespace fovea::cuda {

class CudaModule : public DeviceModule {
public:
  CudaModule(const Queue &queue, const DeviceCode &code, bool takesCubin,
             const std::string &device);
  ~CudaModule() override;
  void launch(const DeviceLaunch &what) override;
  std::unique_ptr<DeviceGraph> makeGraph() override;

  /// A launch as the driver reads it; holds until the next one is described. Throws Failure if it
  /// is wrong.
  KernelNode describe(const DeviceLaunch &what);
  const Queue &where() const { return queue; }
  const std::string &deviceName() const { return device; }

private:
  const Queue &queue; ///< the device's
  std::string device;
  CUmodule module = nullptr;
  std::vector<DeviceKernel> kernels;
  std::vector<CUfunction> functions;
  std::vector<void *> parameters;
  EncodedMap maps[FOVEA_MAX_LAUNCH_MAPS];
};

} // namespace fovea::cuda

#endif // FOVEA_RUNTIME_CUDAMODULE_H
