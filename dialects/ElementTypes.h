// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Which floating-point elements are computed in which. All others are nobody's here: f64 is
// computed in f64, floats of 8 bits are refused where a model is read.
#ifndef FOVEA_DIALECTS_ELEMENTTYPES_H
#define FOVEA_DIALECTS_ELEMENTTYPES_H

#include "mlir/IR/BuiltinTypes.h"

namespace mlir::fovea {

/// f16 or bf16: computed in f32 and rounded.
inline bool isHalf(Type type) { return type.isF16() || type.isBF16(); }

/// f32, f16 or bf16: what kernels compute in f32.
inline bool isComputedInF32(Type type) { return type.isF32() || isHalf(type); }

} // namespace mlir::fovea

#endif // FOVEA_DIALECTS_ELEMENTTYPES_H
