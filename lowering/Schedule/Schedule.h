// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// The choices of a target, written into the IR as typed attributes.
#ifndef FOVEA_LOWERING_SCHEDULE_SCHEDULE_H
#define FOVEA_LOWERING_SCHEDULE_SCHEDULE_H

#include "dialects/Fovea/FoveaDialect.h"
#include "mlir/Pass/Pass.h"
#include "mlir/Pass/PassManager.h"

namespace mlir::fovea {

#define GEN_PASS_DECL
#include "lowering/Schedule/Passes.h.inc"

#define GEN_PASS_REGISTRATION
#include "lowering/Schedule/Passes.h.inc"

/// `fused` -> `scheduled`.
void buildScheduledPipeline(OpPassManager &manager);

/// `fovea-to-scheduled`.
void registerSchedulePipeline();

} // namespace mlir::fovea

#endif // FOVEA_LOWERING_SCHEDULE_SCHEDULE_H
