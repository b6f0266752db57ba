// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// The order of passes from kernels on buffers to the LLVM dialect of a GPU.
#include "lowering/GPU/GPU.h"
#include "lowering/Lowering.h"
#include "mlir/Conversion/Passes.h"
#include "mlir/Dialect/Linalg/Passes.h"
#include "mlir/Dialect/MemRef/Transforms/Passes.h"
#include "mlir/Pass/PassRegistry.h"
#include "mlir/Transforms/Passes.h"

using namespace mlir;
using namespace mlir::fovea;

void mlir::fovea::buildThreadsPipeline(OpPassManager &pm, bool tensorCores) {
  OpPassManager &device = pm.nest<gpu::GPUModuleOp>();
  OpPassManager &kernels = device.nest<func::FuncOp>();
  kernels.addPass(createConvertLinalgToLoopsPass());
  kernels.addPass(createChooseAtomsPass({tensorCores}));
  kernels.addPass(createStageOperandsPass());
  kernels.addPass(createAssignLayoutsPass());
  kernels.addPass(createPipelineCopiesPass());
  kernels.addPass(createPlanSharedPass());
  kernels.addPass(createInsertBarriersPass());
  device.addPass(createTileToThreadsPass());
  device.addPass(createCanonicalizerPass());
  device.addPass(createCSEPass());
}

void mlir::fovea::buildNvvmPipeline(OpPassManager &pm) {
  OpPassManager &device = pm.nest<gpu::GPUModuleOp>();
  device.addNestedPass<func::FuncOp>(createExpandMathPass());
  device.addPass(createLowerDeviceKernelsPass());
  device.addPass(memref::createExpandStridedMetadataPass());
  device.addPass(createLowerAffinePass());
  device.addPass(createCanonicalizerPass());
  device.addPass(createCSEPass());
  device.addPass(createSCFToControlFlowPass());
  device.addPass(createConvertMathToLLVMPass());
  device.addPass(createConvertToLLVMPass());
  device.addPass(createReconcileUnrealizedCastsPass());
  device.addPass(createCanonicalizerPass());
  device.addPass(createCSEPass());
}

void mlir::fovea::registerGPULowering() {
  registerFoveaGPUPasses();
  PassPipelineRegistration<>("fovea-to-threads",
                             "Kernels of a gpu.module to the code of one thread each",
                             [](OpPassManager &pm) { buildThreadsPipeline(pm); });
  PassPipelineRegistration<>("fovea-to-nvvm", "From one thread's code to the LLVM dialect",
                             buildNvvmPipeline);
}
