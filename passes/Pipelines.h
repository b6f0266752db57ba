// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// The orders in which the target-independent passes run: one function for each stage, which begins
// where the stage before ends.
#ifndef FOVEA_PASSES_PIPELINES_H
#define FOVEA_PASSES_PIPELINES_H

#include "mlir/Pass/PassManager.h"

namespace mlir::fovea {

/// What the `graph` stage is asked to do besides.
struct GraphOptions {
  /// f32 or bf16: the element type of float weights; empty: as they are.
  std::string cast;
  /// int8 or int4: how the weights of linears are stored; empty: as they are.
  std::string quantize;
  /// Whether blocks become f32, as they do where weights are quantised.
  bool widensBlocks = false;
  /// Of weights that are quantised, those whose int4 is stored already, and those that get int8.
  std::vector<std::string> calibrated, wide;
  /// Whether linears multiply in the type of their weights; else in that of their inputs.
  bool roundsInputs = false;
  /// Then, whether they quantise rows of inputs where weights are integers.
  bool quantizesRows = false;
  /// f32, bf16 or int8: the element type of caches; auto: bf16 where linears round their inputs;
  /// empty: as they are.
  std::string caches;
  /// What entries are added to see: attention, masks, positions, inputs.
  std::vector<std::string> probes;
};

/// What nobody uses goes: functions, weights, values.
void buildCleanUpPipeline(OpPassManager &manager);

/// `import` -> `graph`.
void buildGraphPipeline(OpPassManager &manager, const GraphOptions &options = {});

/// `graph` -> `fused`.
void buildFusedPipeline(OpPassManager &manager);

/// `fovea-to-graph` and `fovea-to-fused`.
void registerPipelines();

} // namespace mlir::fovea

#endif // FOVEA_PASSES_PIPELINES_H
