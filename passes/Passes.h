// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Passes on the `fovea` dialect that know nothing of the target. What each does and refuses is said
// in Passes.td.
#ifndef FOVEA_PASSES_PASSES_H
#define FOVEA_PASSES_PASSES_H

#include "dialects/Fovea/FoveaDialect.h"
#include "mlir/Pass/Pass.h"

namespace mlir::fovea {

#define GEN_PASS_DECL
#include "passes/Passes.h.inc"

#define GEN_PASS_REGISTRATION
#include "passes/Passes.h.inc"

/// Kinds of what fovea-add-probes shows.
constexpr StringLiteral kProbeKinds[] = {"attention", "masks", "positions", "inputs"};

/// The file that holds integers and scales of calibrated weights, as `W` and `W.scales`.
inline constexpr StringLiteral kCalibratedFile = "calibrated";

/// f32, bf16, f16 or f64 by its name; null for another.
Type parseElementType(StringRef name, MLIRContext *context);

/// Gives caches, wherever they are, elements of the type `to` if `isCast` says so of theirs;
/// returns how many values got another type.
unsigned castCaches(ModuleOp module, FloatType to, function_ref<bool(Type)> isCast);
/// Values that are caches of integers with scales.
unsigned countIntegerCaches(ModuleOp module);

/// Linears that multiply bf16 and give f32, and those that quantise rows of their input.
int64_t countRoundedLinears(ModuleOp module);
int64_t countQuantizedRows(ModuleOp module);

} // namespace mlir::fovea

#endif // FOVEA_PASSES_PASSES_H
