// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// The order of passes from scheduled groups to the stages `kernels` and `llvm`.
#ifndef FOVEA_LOWERING_PIPELINES_H
#define FOVEA_LOWERING_PIPELINES_H

#include "mlir/Pass/PassManager.h"

namespace mlir::fovea {

/// `scheduled` -> `kernels`.
void buildKernelsPipeline(OpPassManager &pm);

/// How tile programs become code: as the scalar loops that are their meaning, or by the vectors of
/// the module's target.
enum class TilesTo { Loops, Vectors };

/// `kernels` -> `llvm`.
void buildLLVMPipeline(OpPassManager &pm, TilesTo tiles = TilesTo::Vectors);

/// `kernels` -> `llvm` for the host's side of a device: plans and launches, no kernels.
void buildHostPipeline(OpPassManager &pm);

/// Registers the three as `fovea-to-kernels` and `fovea-to-llvm` and `fovea-to-host`, and their
/// passes.
void registerLoweringPasses();

} // namespace mlir::fovea

#endif // FOVEA_LOWERING_PIPELINES_H
