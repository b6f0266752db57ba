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

/// The best level of instructions (amx, avx512bf16, avx512, ...) of a processor with these
/// features, by LLVM's names, and of this machine.
StringRef getTargetLevel(ArrayRef<std::string> features);
StringRef getHostLevel();
/// Whether a processor with these features multiplies bf16 faster than f32; `name` is LLVM's. By
/// AMX all do. VDPBF16PS takes as long as a multiply-and-add on AMD's processors, more than twice
/// as long on Intel's (147 GFLOP/s where f32 has 311 on Sapphire Rapids).
bool multipliesHalves(ArrayRef<std::string> features, StringRef name);
/// The same of bytes: VPDPBUSD takes as long as a multiply-and-add on all that have it.
bool multipliesBytes(ArrayRef<std::string> features);

/// What is known of a level; an error at `loc` for a name that none has.
FailureOr<TargetAttr> getLevelTarget(StringRef name, Location loc);

/// Whether a builder of tile programs computes this group; else it gets plain loops.
bool isCovered(GroupOp group);

struct Level;
struct PanelSizes;

/// The schedule of tiles for a group by the numbers of a level, whichever it is; null for what is
/// no computation of tiles.
Attribute chooseTiles(GroupOp group, const Level &level);

/// The schedule of a group by its ops, its shapes and the table of the target's level. With
/// `assumeCovered` tiles are chosen for what no builder covers, too. Fails with an error at a group
/// whose first result no op of its own computes.
FailureOr<Attribute> chooseSchedule(GroupOp group, TargetAttr target, bool assumeCovered = false);

/// For a device: constants that groups get, or views of them, become results of groups, whose
/// kernels have them in tables of their own.
void moveConstants(ModuleOp module);

/// Ends each weight's recipe in a pack: panels where only linears and tables of rows read it and at
/// least one linear does, else row-major. Panels travel as the encoding of its type. Returns how
/// many weights got a layout.
int64_t packWeights(ModuleOp module, const PanelSizes &sizes);

/// `fused` -> `scheduled`, for a level of instructions; empty: that of this machine.
void buildScheduledPipeline(OpPassManager &manager, StringRef target = "");

/// `fovea-to-scheduled`.
void registerSchedulePipeline();

} // namespace mlir::fovea

#endif // FOVEA_LOWERING_SCHEDULE_SCHEDULE_H
