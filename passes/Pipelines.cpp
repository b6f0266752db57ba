// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// The target-independent pipelines, in full. Nothing here depends on the target.
#include "passes/Pipelines.h"
#include "mlir/Conversion/AffineToStandard/AffineToStandard.h"
#include "mlir/Dialect/MemRef/Transforms/Passes.h"
#include "mlir/Pass/PassRegistry.h"
#include "mlir/Transforms/Passes.h"
#include "passes/Passes.h"
#include "passes/Raise/Passes.h"

using namespace mlir;

void fovea::buildCleanUpPipeline(OpPassManager &manager) {
  manager.addPass(createCanonicalizerPass());
  manager.addPass(createCSEPass());
  manager.addPass(createSymbolDCEPass());
  manager.addPass(fovea::createDropUnusedWeightsPass());
}

/// Plain linalg, arith and tensor code to fovea's words; what has them already stays as it is.
static void addRaising(OpPassManager &manager) {
  // Sizes that are followed to the arguments are known to be equal. Upstream ops say sums of sizes
  // in affine maps.
  manager.addPass(memref::createResolveRankedShapeTypeResultDimsPass());
  manager.addPass(createLowerAffinePass());
  fovea::buildCleanUpPipeline(manager);
  // Before attention, whose questions would go through the residual stream of all layers below.
  manager.addPass(fovea::createRaiseNormsPass());
  manager.addPass(fovea::createRaiseAttentionPass());
  // Behind it: the transposes around an attention meet those that the source wrote, and go.
  manager.addPass(fovea::createRaiseViewsPass());
  manager.addPass(fovea::createGatherWindowsPass());
  // Before the others: what reads a linear ends there.
  manager.addPass(fovea::createRaiseLinearPass());
  manager.addPass(fovea::createRaiseEmbeddingPass());
  // Those between views that are gone now.
  manager.addPass(fovea::createRaiseNormsPass());
  manager.addPass(fovea::createRaiseActivationsPass());
  manager.addPass(fovea::createRaiseRopePass());
  // Again: what was raised stands between transposes and reshapes of its own.
  manager.addPass(fovea::createRaiseViewsPass());
  fovea::buildCleanUpPipeline(manager);
}

void fovea::buildGraphPipeline(OpPassManager &manager, const GraphOptions &options) {
  auto addCast = [&] {
    if (!options.cast.empty())
      manager.addPass(createCastWeightsPass({options.cast, /*blocksOnly=*/false}));
    else if (!options.quantize.empty() || options.widensBlocks) // by another rule than blocks
      manager.addPass(createCastWeightsPass({"f32", /*blocksOnly=*/true}));
  };
  // Before all that asks how large something is.
  manager.addPass(createFoldEmptyTensorsPass());
  // Before all that computes with weights: what is scaled is scaled in the type asked for.
  addCast();
  manager.addPass(createDropDropoutPass());
  // Before merging: a dead linear, or a dead function, would count as another user of its weight.
  fovea::buildCleanUpPipeline(manager);
  addRaising(manager);
  // Behind raising, which is done once, and before layers are functions.
  manager.addPass(createAddDecodePass());
  manager.addPass(createMergeLinearsPass());
  // Sizes of results become sizes of arguments, so that index arithmetic depends on no computation.
  manager.addPass(memref::createResolveRankedShapeTypeResultDimsPass());
  manager.addPass(createLowerAffinePass());
  fovea::buildCleanUpPipeline(manager);
  // Behind merging: what reads a norm is then one linear, whose weight can take the norm's in.
  manager.addPass(createFoldRmsNormPass());
  fovea::buildCleanUpPipeline(manager);
  // Behind merging, so that projections of one input are no layers of their own.
  manager.addPass(createOutlineLayersPass());
  fovea::buildCleanUpPipeline(manager);
  // Behind all that computes with weights or looks for equal layers: what is merged and scaled is
  // rounded once. Casts again, of what upstream ops read before it was raised.
  addCast();
  if (!options.quantize.empty()) {
    QuantizeWeightsPassOptions quantize;
    quantize.type = options.quantize;
    quantize.calibrated.assign(options.calibrated.begin(), options.calibrated.end());
    quantize.wide.assign(options.wide.begin(), options.wide.end());
    manager.addPass(createQuantizeWeightsPass(quantize));
  }
  bool choosesCaches = options.caches == "auto";
  if (!options.caches.empty() && !choosesCaches)
    manager.addPass(createCastCachesPass({options.caches}));
  // Behind what changes the types of weights and caches.
  if (options.roundsInputs)
    manager.addPass(createChooseComputeTypesPass({options.quantizesRows, choosesCaches}));
  // Behind all that looks for equal layers or counts who reads what.
  if (!options.probes.empty()) {
    AddProbesPassOptions kinds;
    kinds.kinds.assign(options.probes.begin(), options.probes.end());
    manager.addPass(createAddProbesPass(kinds));
    manager.addPass(memref::createResolveRankedShapeTypeResultDimsPass());
    manager.addPass(createLowerAffinePass());
    fovea::buildCleanUpPipeline(manager);
  }
  // Last, because CSE joins the copies again: one in a branch with one before it.
  manager.addPass(createLocalizeMasksPass());
  manager.addPass(createVerifyGraphPass());
}

void fovea::buildFusedPipeline(OpPassManager &manager) {
  // Again: sizes that the graph's passes have found.
  manager.addPass(createFoldEmptyTensorsPass());
  manager.addPass(createDecomposePass());
  manager.addPass(createFuseMapsPass());
  manager.addPass(createFormGroupsPass());
  // On formed groups, which have explicit operands to reason about.
  manager.addPass(createFuseGroupsPass());
  fovea::buildCleanUpPipeline(manager);
}

void fovea::registerPipelines() {
  PassPipelineRegistration<>("fovea-to-graph", "import -> graph",
                             [](OpPassManager &manager) { buildGraphPipeline(manager); });
  PassPipelineRegistration<>("fovea-to-fused", "graph -> fused", buildFusedPipeline);
}
