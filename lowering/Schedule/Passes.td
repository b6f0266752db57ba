// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#ifndef FOVEA_LOWERING_SCHEDULE_PASSES_TD
#define FOVEA_LOWERING_SCHEDULE_PASSES_TD

include "mlir/Pass/PassBase.td"

def SchedulePass : Pass<"fovea-schedule", "::mlir::ModuleOp"> {
  let summary = "Choose how each group runs, and how each weight lies in memory";
  let description = [{
    The `scheduled` stage. Each group gets a `#fovea.loops` that says how many of its outermost loops are shared
    among threads: all axes of the result over which no sum runs, by the kind of the op that computes it (a table in
    Schedule.cpp). Each weight's recipe is wrapped in the `#fovea.pack` of its layout.

    This pass only chooses; `lowering/Kernels` applies. A group that has a schedule and a recipe that ends in a pack
    are left as they are, so a schedule written by hand stays.

    An empty group, or one whose result no op of its own computes, is an error.

    ```mlir
    %y = fovea.group(%a = %x, %b = %w) : ... { %0 = fovea.linear %a, %b ... }
    // becomes
    %y = fovea.group(%a = %x, %b = %w) schedule(#fovea.loops<parallel = 3>) : ... { %0 = fovea.linear %a, %b ... }
    ```
  }];
  let statistics = [
    Statistic<"numScheduled", "num-scheduled", "groups scheduled">,
    Statistic<"numPacked", "num-packed", "weights given a layout">];
}

#endif // FOVEA_LOWERING_SCHEDULE_PASSES_TD
