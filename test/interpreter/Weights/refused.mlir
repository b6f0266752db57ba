// RUN: not fovea-interpret %s --weights %S/Inputs/weights --entry wrong_shape 2>&1 | FileCheck %s --check-prefix=SHAPE
// RUN: not fovea-interpret %s --weights %S/Inputs/weights --entry wrong_type 2>&1 | FileCheck %s --check-prefix=TYPE
// RUN: not fovea-interpret %s --weights %S/Inputs/weights --entry missing 2>&1 | FileCheck %s --check-prefix=MISSING

// Weights of another shape or type than the file has, and one that it does not hold.

fovea.weight @shape : tensor<3x2xbf16> = #fovea.stored<"small.safetensors", "bf16", tensor<3x2xbf16>>
// SHAPE: small.safetensors: tensor "bf16": expects 'tensor<3x2xbf16>', got [2, 3] of BF16
func.func private @wrong_shape() -> tensor<3x2xbf16> {
  %0 = fovea.weight_ref @shape : tensor<3x2xbf16>
  return %0 : tensor<3x2xbf16>
}

fovea.weight @type : tensor<2x3xf16> = #fovea.stored<"small.safetensors", "bf16", tensor<2x3xf16>>
// TYPE: small.safetensors: tensor "bf16": expects 'tensor<2x3xf16>', got [2, 3] of BF16
func.func private @wrong_type() -> tensor<2x3xf16> {
  %0 = fovea.weight_ref @type : tensor<2x3xf16>
  return %0 : tensor<2x3xf16>
}

fovea.weight @missing_weight : tensor<2xf16> = #fovea.stored<"small.safetensors", "none", tensor<2xf16>>
// MISSING: small.safetensors: tensor "none": is missing
func.func private @missing() -> tensor<2xf16> {
  %0 = fovea.weight_ref @missing_weight : tensor<2xf16>
  return %0 : tensor<2xf16>
}
