// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Which floating-point elements are computed in which, and which integers lie in units. Floats of 8
// bits are nobody's here: they are refused where a model is read.
#ifndef FOVEA_DIALECTS_ELEMENTTYPES_H
#define FOVEA_DIALECTS_ELEMENTTYPES_H

#include "dialects/PackedIntegers.h"
#include "mlir/IR/BuiltinTypes.h"
#include "mlir/IR/TypeUtilities.h"

namespace mlir::fovea {

/// f16 or bf16: computed in f32 and rounded.
inline bool isHalf(Type type) { return type.isF16() || type.isBF16(); }

/// f32, f16 or bf16: what kernels compute in f32.
inline bool isComputedInF32(Type type) { return type.isF32() || isHalf(type); }

/// What kernels compute with: these, and f64 in itself.
inline bool isKernelFloat(Type type) { return type.isF64() || isComputedInF32(type); }

/// In what an op on these elements, or on a tensor of them, computes and sums: f64 for f64, f32
/// otherwise.
inline FloatType getAccumulationType(Type type) {
  MLIRContext *context = type.getContext();
  if (getElementTypeOrSelf(type).isF64())
    return Float64Type::get(context);
  return Float32Type::get(context);
}

/// Of i2, i5 and i6, which only units tell where they are; nothing for others.
inline std::optional<PackedIntegers> getUnits(Type type) {
  if (!type.isSignlessInteger() || !lieInUnits(type.getIntOrFloatBitWidth()))
    return std::nullopt;
  return PackedIntegers{type.getIntOrFloatBitWidth()};
}

} // namespace mlir::fovea

#endif // FOVEA_DIALECTS_ELEMENTTYPES_H
