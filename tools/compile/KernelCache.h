// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Machine code of kernels that was made before: other models, and the next version of this one,
// launch the same ones.
#ifndef FOVEA_TOOLS_COMPILE_KERNELCACHE_H
#define FOVEA_TOOLS_COMPILE_KERNELCACHE_H

#include "lowering/CodeGen/CodeGen.h"
#include "mlir/Dialect/Func/IR/FuncOps.h"
#include "tools/compile/Compile.h"
#include <optional>

namespace mlir::fovea {

/// The name of all kernels in their code that is kept.
inline constexpr llvm::StringLiteral kKernelName = "fovea_kernel";

/// A folder with an object for each kernel, by its key. Its files may be deleted at any time, one
/// that is damaged is as good as none, and that one cannot be written is no fault. Several threads
/// and processes may use it at once.
class KernelCache {
public:
  /// None if `folder` is empty.
  explicit KernelCache(std::string folder) : folder(std::move(folder)) {}

  bool find(StringRef key, SmallVectorImpl<char> &object) const;
  void keep(StringRef key, ArrayRef<char> object) const;

private:
  std::string folder;
};

/// The hash of all that the code of a kernel of the `kernels` stage depends on: its operations, the
/// processor, the level of optimization and this compiler; neither names nor places in a model.
/// None if it refers to other operations of its module.
std::optional<std::string> hashKernel(func::FuncOp kernel, const TargetOptions &target,
                                      unsigned optimization);

/// The hash of what a GPU's assembler makes code of: PTX, and the assembler's own program.
std::optional<std::string> hashAssembly(StringRef ptxas, StringRef chip, StringRef ptx);

} // namespace mlir::fovea

#endif // FOVEA_TOOLS_COMPILE_KERNELCACHE_H
