// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// The program that was meant: the same without rounding.
#ifndef FOVEA_TEST_SMITH_EXACT_H
#define FOVEA_TEST_SMITH_EXACT_H

#include "mlir/IR/BuiltinOps.h"
#include "mlir/IR/BuiltinTypes.h"

namespace mlir::fovea {

/// Turns every float of a module into f64; casts between them go.
void makeExact(ModuleOp module);
/// The coarsest type narrower than f32 that a module computes in; null if there is none.
FloatType getRounding(ModuleOp module);

} // namespace mlir::fovea

#endif // FOVEA_TEST_SMITH_EXACT_H
