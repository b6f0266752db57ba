// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// The order of passes from scheduled groups to the LLVM dialect.
#include "lowering/Pipelines.h"
#include "lowering/CPU/Passes.h"
#include "lowering/Entries/Passes.h"
#include "lowering/Math/Passes.h"
#include "lowering/Tile/Passes.h"
#include "mlir/Conversion/Passes.h"
#include "mlir/Dialect/Linalg/Passes.h"
#include "mlir/Pass/PassRegistry.h"
#include "mlir/Transforms/Passes.h"

using namespace mlir;
using namespace mlir::fovea;

void mlir::fovea::buildKernelsPipeline(OpPassManager &pm) {
  pm.addPass(createInlineLayersPass());
  pm.addPass(createFormLaunchesPass());
  pm.addPass(createCanonicalizerPass());
  pm.addPass(createCSEPass());
}

/// Functions on buffers, loops and upstream's arithmetic to the LLVM dialect.
static void lowerToLLVM(OpPassManager &pm) {
  pm.addPass(createExpandViewsPass());
  pm.addPass(createLowerAffinePass());
  pm.addPass(createSweepPass());
  pm.addPass(createCSEPass());
  pm.addNestedPass<func::FuncOp>(createSCFToControlFlowPass());
  // Functions of vectors become arithmetic; then equal parts, as of a sine and its cosine, are one.
  pm.addNestedPass<func::FuncOp>(createExpandMathPass());
  pm.addPass(createCSEPass());
  pm.addPass(createConvertMathToFuncs()); // integer powers, which are loops
  // Square roots are instructions; exp, tanh, sin, ... of scalars become calls of the C library,
  // within one unit in the last place, and so does erf, for which LLVM has no intrinsic.
  pm.addPass(createConvertMathToLLVMPass());
  pm.addPass(createConvertMathToLibmPass());
  pm.addPass(createConvertToLLVMPass());
  pm.addPass(createReconcileUnrealizedCastsPass());
  pm.addPass(createSweepPass());
  pm.addPass(createCSEPass());
}

void mlir::fovea::buildLLVMPipeline(OpPassManager &pm, TilesTo tiles) {
  pm.addNestedPass<func::FuncOp>(createConvertLinalgToLoopsPass());
  if (tiles == TilesTo::Vectors)
    pm.addNestedPass<func::FuncOp>(createTileToVectorsPass());
  else
    pm.addNestedPass<func::FuncOp>(createTileToLoopsPass());
  pm.addNestedPass<func::FuncOp>(createPartitionPass());
  // Entries first: what they build their buffers with is lowered with the kernels' code.
  pm.addPass(createLowerEntriesPass());
  lowerToLLVM(pm);
}

void mlir::fovea::buildHostPipeline(OpPassManager &pm) {
  LowerEntriesPassOptions options;
  options.launches = true;
  pm.addPass(createLowerEntriesPass(options));
  lowerToLLVM(pm);
}

void mlir::fovea::registerLoweringPasses() {
  registerFoveaCPUPasses();
  registerFoveaEntriesPasses();
  registerFoveaMathPasses();
  registerFoveaTilePasses();
  PassPipelineRegistration<>("fovea-to-kernels", "From the scheduled stage to the kernels stage",
                             buildKernelsPipeline);
  struct Options : PassPipelineOptions<Options> {
    Option<TilesTo> tiles{
        *this, "tiles", llvm::cl::desc("How tile programs are lowered"),
        llvm::cl::values(clEnumValN(TilesTo::Loops, "loops", "as scalar loops"),
                         clEnumValN(TilesTo::Vectors, "vectors", "to the target's vectors")),
        llvm::cl::init(TilesTo::Vectors)};
  };
  PassPipelineRegistration<Options>(
      "fovea-to-llvm", "From the kernels stage to the llvm stage",
      [](OpPassManager &pm, const Options &options) { buildLLVMPipeline(pm, options.tiles); });
  PassPipelineRegistration<>(
      "fovea-to-host", "From the kernels stage to the host's code for a device", buildHostPipeline);
}
