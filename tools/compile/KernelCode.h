// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Code of kernels, each an object of its own. LLVM uses one thread for a module; and a kernel that
// an earlier compilation met need not be compiled again.
#ifndef FOVEA_TOOLS_COMPILE_KERNELCODE_H
#define FOVEA_TOOLS_COMPILE_KERNELCODE_H

#include "mlir/IR/OwningOpRef.h"
#include "mlir/IR/SymbolTable.h"
#include "tools/compile/KernelCache.h"
#include "llvm/ADT/SetVector.h"

namespace mlir::fovea {

/// What a function refers to in its module, and what that refers to.
llvm::SetVector<Operation *> findUsed(Operation *function, SymbolTable &symbols);

/// The kernels of one module.
class KernelCode {
public:
  /// An object, made by `emit`: of a kernel, or of all that is none.
  struct Part {
    OwningOpRef<ModuleOp> module; ///< of the `llvm` stage; null where the object is known
    std::string name, key;        ///< of a kernel; empty for the rest
    SmallVector<char, 0> object;
    bool isRefused = false; ///< by LLVM's code generator
  };

  KernelCode(TargetOptions target, unsigned optimization, KernelCache cache)
      : target(std::move(target)), optimization(optimization), cache(std::move(cache)) {}

  /// Of a module of the `kernels` stage: kernels whose code is known, or is that of another one of
  /// this module, become declarations; none does if the module shall stay `asWritten`.
  void find(ModuleOp module, bool asWritten);

  /// Of the same module at the `llvm` stage, which stays as it is: its parts in their order.
  /// Without `find` before it is one.
  std::vector<Part> split(ModuleOp module) const;

  /// Makes the object of a part. May be called by several threads at once, for different parts.
  LogicalResult emit(Part &part) const;

  const TargetOptions &getTarget() const { return target; }
  /// Of kernels of this module, how many were known to the cache.
  size_t getKnownCount() const { return knownCount; }

private:
  struct Kernel {
    std::string name, key;
    SmallVector<char, 0> object;
    bool isKnown = false; ///< to the cache, which has the object; else that is to be made
  };

  TargetOptions target;
  unsigned optimization;
  KernelCache cache;
  std::vector<Kernel> kernels;
  std::vector<std::pair<std::string, std::string>> twins; ///< names, and whose code is theirs
  size_t knownCount = 0;
};

} // namespace mlir::fovea

#endif // FOVEA_TOOLS_COMPILE_KERNELCODE_H
