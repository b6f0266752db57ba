// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// PTX of kernels, made for each alone, as LLVM uses one thread for a module, and kept: see
// KernelCode.h, which does the same for processors.
#ifndef FOVEA_TOOLS_COMPILE_DEVICEKERNELS_H
#define FOVEA_TOOLS_COMPILE_DEVICEKERNELS_H

#include "mlir/Dialect/GPU/IR/GPUDialect.h"
#include "tools/compile/KernelCache.h"

namespace mlir::fovea {

/// The kernels of one module for one chip.
class DeviceKernels {
public:
  DeviceKernels(StringRef chip, bool optimizes, unsigned optimization, const KernelCache &cache)
      : chip(chip.str()), optimizes(optimizes), optimization(optimization), cache(cache) {}

  /// Of a module of the `kernels` stage: removes the kernels whose PTX is known, unless it shall
  /// stay `asWritten`, and gives `host`, a copy of it, what the passes decided of their launches.
  void find(ModuleOp module, ModuleOp host, bool asWritten);

  /// The PTX of all kernels, known ones and those of `module`, which has become the `nvvm` stage
  /// and loses them; `host` has their launches.
  LogicalResult emit(gpu::GPUModuleOp module, ModuleOp host, std::string &text);

private:
  struct Kernel {
    std::string name, key;
    std::string body; ///< its PTX without the module's header; empty: to be made
  };
  LogicalResult emitApart(ModuleOp apart, Kernel &kernel) const;

  std::string chip;
  bool optimizes;
  unsigned optimization;
  const KernelCache &cache;
  std::vector<Kernel> kernels;
};

} // namespace mlir::fovea

#endif // FOVEA_TOOLS_COMPILE_DEVICEKERNELS_H
