// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// The pass that chooses a target, a schedule for each group and a layout for each weight. It
// changes no computation.
#include "lowering/Schedule/Schedule.h"
#include "lowering/Kernels/KernelInterface.h"
#include "lowering/Targets/Table.h"

namespace mlir::fovea {
#define GEN_PASS_DEF_SCHEDULEPASS
#include "lowering/Schedule/Passes.h.inc"
} // namespace mlir::fovea

using namespace mlir;
using namespace mlir::fovea;

/// A group that only hands on what it gets: what it computed was folded, a product with one.
static void dropIfEmpty(GroupOp group) {
  Block &body = group.getBody().front();
  Operation *yield = body.getTerminator();
  SmallVector<Value> values;
  for (Value value : yield->getOperands()) {
    auto argument = dyn_cast<BlockArgument>(value);
    if (!argument || group->getOperand(argument.getArgNumber()).getType() != value.getType())
      return;
    values.push_back(group->getOperand(argument.getArgNumber()));
  }
  if (values.empty() || ValueRange(values).getTypes() != group->getResultTypes())
    return;
  group->replaceAllUsesWith(values);
  group->erase();
}

namespace {
struct SchedulePass : fovea::impl::SchedulePassBase<SchedulePass> {
  using SchedulePassBase::SchedulePassBase;

  /// Ops bring their kernels as interfaces.
  void getDependentDialects(DialectRegistry &registry) const override {
    SchedulePassBase::getDependentDialects(registry);
    registerKernelInterfaces(registry);
  }

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
    module->walk(dropIfEmpty);
    bool isDevice = llvm::any_of(
        getDeviceLevels(), [&](const Level &level) { return level.name == known.getLevel(); });
    if (isDevice)
      moveConstants(module);
    const Level *level = findLevel(known.getLevel());
    numPacked += packWeights(module, level ? level->panels : getLevels().front().panels);
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
