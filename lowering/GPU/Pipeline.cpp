// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// The order of passes from kernels on buffers to the LLVM dialect of a GPU.
#include "lowering/GPU/GPU.h"
#include "lowering/Math/Passes.h"
#include "lowering/Tile/Passes.h"
#include "mlir/Conversion/Passes.h"
#include "mlir/Dialect/Linalg/Passes.h"
#include "mlir/Pass/PassRegistry.h"
#include "mlir/Transforms/Passes.h"

using namespace mlir;
using namespace mlir::fovea;

static constexpr Chip kChips[] = {
    {"sm_80", /*sharedBytes=*/163 * 1024, /*warpgroups=*/false},
    {"sm_90a", /*sharedBytes=*/227 * 1024, /*warpgroups=*/true},
};

const Chip *mlir::fovea::findChip(StringRef name) {
  const Chip *found = llvm::find_if(kChips, [&](const Chip &chip) { return chip.name == name; });
  return found == std::end(kChips) ? nullptr : found;
}

void mlir::fovea::buildThreadsPipeline(OpPassManager &pm, const Chip &chip, bool tensorCores) {
  OpPassManager &device = pm.nest<gpu::GPUModuleOp>();
  OpPassManager &kernels = device.nest<func::FuncOp>();
  kernels.addPass(createConvertLinalgToLoopsPass());
  kernels.addPass(createChooseAtomsPass({tensorCores, chip.warpgroups}));
  kernels.addPass(createStageOperandsPass());
  kernels.addPass(createAssignLayoutsPass());
  if (chip.warpgroups)
    kernels.addPass(createSpecializeWarpsPass({chip.sharedBytes}));
  PipelineCopiesPassOptions copies;
  copies.limit = chip.sharedBytes;
  kernels.addPass(createPipelineCopiesPass(copies));
  kernels.addPass(createOverlapProductsPass());
  kernels.addPass(createPlanSharedPass({chip.sharedBytes}));
  kernels.addPass(createInsertBarriersPass());
  device.addPass(createTileToThreadsPass());
  device.addPass(createSweepPass());
  device.addPass(createCSEPass());
}

void mlir::fovea::buildNvvmPipeline(OpPassManager &pm) {
  OpPassManager &device = pm.nest<gpu::GPUModuleOp>();
  device.addNestedPass<func::FuncOp>(createExpandMathPass());
  device.addPass(createLowerDeviceKernelsPass());
  device.addPass(createExpandViewsPass());
  device.addPass(createLowerAffinePass());
  device.addPass(createSweepPass());
  device.addPass(createCSEPass());
  device.addPass(createSCFToControlFlowPass());
  device.addPass(createConvertMathToLLVMPass());
  device.addPass(createConvertToLLVMPass());
  device.addPass(createReconcileUnrealizedCastsPass());
  device.addPass(createSweepPass());
  device.addPass(createCSEPass());
}

void mlir::fovea::registerGPULowering() {
  registerFoveaGPUPasses();
  struct ThreadsOptions : PassPipelineOptions<ThreadsOptions> {
    Option<std::string> chip{*this, "chip", llvm::cl::desc("The GPU: sm_80 or sm_90a"),
                             llvm::cl::init("sm_80")};
  };
  PassPipelineRegistration<ThreadsOptions>(
      "fovea-to-threads", "Kernels of a gpu.module to the code of one thread each",
      [](OpPassManager &pm, const ThreadsOptions &options) {
        const Chip *chip = findChip(options.chip);
        if (!chip)
          llvm::report_fatal_error("expects chip=sm_80 or sm_90a", /*gen_crash_diag=*/false);
        buildThreadsPipeline(pm, *chip);
      });
  PassPipelineRegistration<>("fovea-to-nvvm", "From one thread's code to the LLVM dialect",
                             buildNvvmPipeline);
}
