// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// The pipeline from `fused` to `scheduled`.
#include "lowering/Schedule/Schedule.h"
#include "mlir/Pass/PassRegistry.h"

using namespace mlir;

void fovea::buildScheduledPipeline(OpPassManager &manager) {
  manager.addPass(createSchedulePass());
}

void fovea::registerSchedulePipeline() {
  PassPipelineRegistration<>("fovea-to-scheduled", "fused -> scheduled", buildScheduledPipeline);
}
