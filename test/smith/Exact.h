// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// The program that was meant: the same without rounding.
#ifndef FOVEA_TEST_SMITH_EXACT_H
#define FOVEA_TEST_SMITH_EXACT_H

#include "mlir/IR/BuiltinOps.h"

namespace mlir::fovea {

/// Turns every float of a module into f64; casts between them go.
void makeExact(ModuleOp module);
/// Whether a module has floats that the interpreter rounds: f16 and bf16.
bool isRounded(ModuleOp module);

} // namespace mlir::fovea

#endif // FOVEA_TEST_SMITH_EXACT_H
