// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// The pass that chooses a target, a schedule for each group and a layout for each weight. It
// changes no computation.
#include "lowering/Schedule/Schedule.h"

namespace mlir::fovea {
#define GEN_PASS_DEF_SCHEDULEPASS
#include "lowering/Schedule/Passes.h.inc"
} // namespace mlir::fovea

using namespace mlir;
using namespace mlir::fovea;

namespace {
struct SchedulePass : fovea::impl::SchedulePassBase<SchedulePass> {
  using SchedulePassBase::SchedulePassBase;

  void runOnOperation() override {
    ModuleOp module = getOperation();
    auto known = module->getAttrOfType<TargetAttr>(FoveaDialect::kTargetAttr);
    if (!known || !target.empty()) {
      StringRef level = target.empty() ? getHostLevel() : StringRef(target);
      FailureOr<TargetAttr> chosen = getLevelTarget(level, module.getLoc());
      if (failed(chosen))
        return signalPassFailure();
      known = *chosen;
      module->setAttr(FoveaDialect::kTargetAttr, known);
    }
    numPacked += packWeights(module);
    WalkResult result = module->walk([&](GroupOp group) {
      if (group.getSchedule())
        return WalkResult::advance();
      FailureOr<Attribute> schedule = chooseSchedule(group, known, assumeCovered);
      if (failed(schedule))
        return WalkResult::interrupt();
      group.setScheduleAttr(*schedule);
      ++numScheduled;
      return WalkResult::advance();
    });
    if (result.wasInterrupted())
      signalPassFailure();
  }
};
} // namespace
