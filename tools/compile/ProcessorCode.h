// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Code of one program for several processors.
#ifndef FOVEA_TOOLS_COMPILE_PROCESSORCODE_H
#define FOVEA_TOOLS_COMPILE_PROCESSORCODE_H

#include "artifact/Format.h"
#include "tools/compile/KernelCode.h"

namespace mlir::fovea {

/// For one processor better than the least one.
struct ProcessorCode {
  KernelCode kernels;
  OwningOpRef<ModuleOp> module; ///< of the `llvm` stage
  std::unique_ptr<::fovea::manifest::VariantT> description;
};

/// A shared object of a module of the `llvm` stage.
struct LinkedCode {
  ModuleOp module;
  const KernelCode &kernels;
  std::vector<uint8_t> elf; ///< empty if it could not be made
  std::string error;        ///< the linker's; empty if LLVM's code generator failed
  bool isRefused = false;   ///< by LLVM's code generator
};

/// Makes all, side by side. Fails if one of them has no code.
LogicalResult emitAll(MutableArrayRef<LinkedCode> codes);

} // namespace mlir::fovea

#endif // FOVEA_TOOLS_COMPILE_PROCESSORCODE_H
