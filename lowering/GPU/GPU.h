// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// From the `kernels` stage to PTX: the stages `threads` and `nvvm`, the text and, where ptxas is
// installed, the cubin.
#ifndef FOVEA_LOWERING_GPU_GPU_H
#define FOVEA_LOWERING_GPU_GPU_H

#include "mlir/Dialect/Func/IR/FuncOps.h"
#include "mlir/Dialect/GPU/IR/GPUDialect.h"
#include "mlir/Pass/PassManager.h"
#include <optional>
#include <string>
#include <vector>

namespace mlir::fovea {

#define GEN_PASS_DECL
#include "lowering/GPU/Passes.h.inc"

#define GEN_PASS_REGISTRATION
#include "lowering/GPU/Passes.h.inc"

/// What passes need to know of a GPU.
struct Chip {
  StringLiteral name;
  int64_t sharedBytes; ///< that a block may have
  bool warpgroups;     ///< has wgmma
};

/// As ptxas names it; null if there are no kernels for it.
const Chip *findChip(StringRef name);

/// `kernels` -> `threads`: the kernels of a `gpu.module`, one thread's code each, for `chip`.
/// Without `tensorCores` products are multiply-adds, whatever instructions there are for matrices.
void buildThreadsPipeline(OpPassManager &pm, const Chip &chip, bool tensorCores = true);
/// `threads` -> the LLVM dialect, in the same `gpu.module`.
void buildNvvmPipeline(OpPassManager &pm);
/// Registers the two as `fovea-to-threads` and `fovea-to-nvvm`, and their passes.
void registerGPULowering();

/// The PTX of a module whose kernels `fovea-to-nvvm` has lowered, for a chip as ptxas names it
/// ("sm_80", "sm_90a"). LLVM runs few passes unless it `optimizes`.
LogicalResult emitPtx(gpu::GPUModuleOp module, StringRef chip, std::string &text,
                      bool optimizes = true);

/// What ptxas says of one kernel.
struct KernelResources {
  std::string name;
  int64_t registers = 0, stackBytes = 0, spilledBytes = 0; ///< stored and loaded together
};

struct AssemblyReport {
  std::vector<KernelResources> kernels;
  /// Notes C7500 and on, of which each says that products of matrices wait for each other.
  std::vector<std::string> serialized;
  std::string log; ///< all that ptxas printed
};

/// The assembler of NVIDIA's toolkit: on the PATH, or under the toolkit's usual prefix.
std::optional<std::string> findPtxas();
/// Assembles PTX into a cubin for `chip`; on failure `error` has ptxas's own words.
LogicalResult assemble(StringRef ptxas, StringRef ptx, StringRef chip, std::vector<char> &cubin,
                       AssemblyReport &report, std::string &error);

} // namespace mlir::fovea

#endif // FOVEA_LOWERING_GPU_GPU_H
