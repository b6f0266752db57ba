// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// The pipeline from `fused` to `scheduled`.
#include "lowering/Schedule/Schedule.h"
#include "mlir/Pass/PassOptions.h"
#include "mlir/Pass/PassRegistry.h"

using namespace mlir;

void fovea::buildScheduledPipeline(OpPassManager &manager, StringRef target) {
  SchedulePassOptions options;
  options.target = target.str();
  manager.addPass(createSchedulePass(options));
}

namespace {
struct ScheduledOptions : PassPipelineOptions<ScheduledOptions> {
  Option<std::string> target{*this, "target",
                             llvm::cl::desc("amx, avx512bf16, avx512vnni, avx512, avxvnni, avx2 or "
                                            "sse; empty: that of this machine")};
};
} // namespace

void fovea::registerSchedulePipeline() {
  PassPipelineRegistration<ScheduledOptions>(
      "fovea-to-scheduled", "fused -> scheduled",
      [](OpPassManager &manager, const ScheduledOptions &options) {
        buildScheduledPipeline(manager, options.target);
      });
}
