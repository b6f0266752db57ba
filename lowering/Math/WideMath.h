// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Functions of f64, scalars and vectors, as arithmetic: for targets without a library, and where
// its calls take too long.
#ifndef FOVEA_LOWERING_MATH_WIDEMATH_H
#define FOVEA_LOWERING_MATH_WIDEMATH_H

#include "mlir/IR/ImplicitLocOpBuilder.h"

namespace mlir::fovea {

/// What an op of the `math` dialect gives for operands of f64, or vectors of it; null for ops
/// without an expansion. The errors are in the text of fovea-expand-math.
Value expandWide(ImplicitLocOpBuilder &b, Operation *op, ValueRange operands);

} // namespace mlir::fovea

#endif // FOVEA_LOWERING_MATH_WIDEMATH_H
