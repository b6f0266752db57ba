// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// The orders in which the target-independent passes run: one function for each stage, which begins
// where the stage before ends.
#ifndef FOVEA_PASSES_PIPELINES_H
#define FOVEA_PASSES_PIPELINES_H

#include "mlir/Pass/PassManager.h"

namespace mlir::fovea {

/// `import` -> `graph`.
void buildGraphPipeline(OpPassManager &manager);

/// `graph` -> `fused`.
void buildFusedPipeline(OpPassManager &manager);

/// `fovea-to-graph` and `fovea-to-fused`.
void registerPipelines();

} // namespace mlir::fovea

#endif // FOVEA_PASSES_PIPELINES_H
