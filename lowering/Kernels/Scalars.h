// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Scalar arith and math of a kernel where operands may be anything: what LLVM leaves undefined, or
// what a processor traps on, is given the interpreter's meaning or ends the call.
#ifndef FOVEA_LOWERING_KERNELS_SCALARS_H
#define FOVEA_LOWERING_KERNELS_SCALARS_H

#include "mlir/IR/ImplicitLocOpBuilder.h"

namespace mlir::fovea {

/// The results of an elementwise or scalar op of any upstream dialect on scalar operands.
///
/// - A division by zero, and a shift by the width or more, is a fault; the result is some number.
/// - The least integer by -1 wraps. Rounding divisions are written out.
/// - Floats to integers: towards zero, the nearest number that fits, NaN gives 0.
/// - All else as `emitRounded` does it.
SmallVector<Value> emitScalar(ImplicitLocOpBuilder &b, Operation *op, ValueRange operands);

/// The same of an op that has a meaning for all its operands. Floats of 16 bits are computed in f32
/// and rounded after each op: two roundings, that give what one gives for + - * / and square roots,
/// since f32 has more than twice their bits.
SmallVector<Value> emitRounded(ImplicitLocOpBuilder &b, Operation *op, ValueRange operands);

/// Integer division and remainder of any kind on index values that are sizes: by zero gives zero's
/// quotient by one. Null if `op` is none.
Value emitSizeDivision(ImplicitLocOpBuilder &b, Operation *op, ValueRange operands);

} // namespace mlir::fovea

#endif // FOVEA_LOWERING_KERNELS_SCALARS_H
