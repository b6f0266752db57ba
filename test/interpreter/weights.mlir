// RUN: fovea-interpret %s --weights %S/Inputs/weights | FileCheck %s
// RUN: fovea-interpret %s --weights %S/Inputs/weights --exact --entry wide | FileCheck %s --check-prefix=EXACT
// RUN: not fovea-interpret %s --weights %S/Inputs/weights --entry wrong_shape 2>&1 | FileCheck %s --check-prefix=SHAPE
// RUN: not fovea-interpret %s --weights %S/Inputs/weights --entry wrong_type 2>&1 | FileCheck %s --check-prefix=TYPE
// RUN: not fovea-interpret %s --weights %S/Inputs/weights --entry missing 2>&1 | FileCheck %s --check-prefix=MISSING

// The file holds: bf16 [[1, 2, 3], [4, 5, 6]]; bf16_row [[-1, -2, -3]]; f16 with -0, the greatest, the least, infinity and the
// least normal number; f32 [[1, 1 + 2^-8], [1 + 3 2^-8, 0.1]]; f64 [0.1]; i64 [-1, 2^53 + 1]; bool [1, 0]; scale [0, 1, -3].

fovea.weight @bf16 : tensor<2x3xbf16> = #fovea.stored<"small.safetensors", "bf16", tensor<2x3xbf16>>
fovea.weight @f16 : tensor<6xf16> = #fovea.stored<"small.safetensors", "f16", tensor<6xf16>>
fovea.weight @f64 : tensor<1xf64> = #fovea.stored<"small.safetensors", "f64", tensor<1xf64>>
fovea.weight @i64 : tensor<2xi64> = #fovea.stored<"small.safetensors", "i64", tensor<2xi64>>
fovea.weight @bool : tensor<2xi1> = #fovea.stored<"small.safetensors", "bool", tensor<2xi1>>

// CHECK-LABEL: @stored
// CHECK-NEXT: 2x3 [1, 2, 3, 4, 5, 6]
// CHECK-NEXT: 6 [1.5, -0, 65504, 5.96046e-08, inf, -6.10352e-05]
// CHECK-NEXT: 2 [-1, 9007199254740993]
// CHECK-NEXT: 2 [1, 0]
func.func @stored() -> (tensor<2x3xbf16>, tensor<6xf16>, tensor<2xi64>, tensor<2xi1>) {
  %0 = fovea.weight_ref @bf16 : tensor<2x3xbf16>
  %1 = fovea.weight_ref @f16 : tensor<6xf16>
  %2 = fovea.weight_ref @i64 : tensor<2xi64>
  %3 = fovea.weight_ref @bool : tensor<2xi1>
  return %0, %1, %2, %3 : tensor<2x3xbf16>, tensor<6xf16>, tensor<2xi64>, tensor<2xi1>
}

// EXACT: 1 [0.10000000000000001]
func.func @wide() -> tensor<1xf64> {
  %0 = fovea.weight_ref @f64 : tensor<1xf64>
  return %0 : tensor<1xf64>
}

fovea.weight @rows : tensor<3x3xbf16> = #fovea.concat<0, #fovea.stored<"small.safetensors", "bf16", tensor<2x3xbf16>>, #fovea.stored<"small.safetensors", "bf16_row", tensor<1x3xbf16>>>
fovea.weight @columns : tensor<2x6xbf16> = #fovea.concat<1, #fovea.stored<"small.safetensors", "bf16", tensor<2x3xbf16>>, #fovea.stored<"small.safetensors", "bf16", tensor<2x3xbf16>>>
fovea.weight @transposed : tensor<3x2xbf16> = #fovea.pack<#fovea.transpose<#fovea.stored<"small.safetensors", "bf16", tensor<2x3xbf16>>>>
fovea.weight @rounded : tensor<2x2xbf16> = #fovea.cast<#fovea.stored<"small.safetensors", "f32", tensor<2x2xf32>>, bf16>
fovea.weight @scaled : tensor<2x3xbf16> = #fovea.scale_columns<#fovea.stored<"small.safetensors", "bf16", tensor<2x3xbf16>>, #fovea.stored<"small.safetensors", "scale", tensor<3xf32>>, 1.0 : f64>

// Halves round to even: 1 + 2^-8 down to 1, 1 + 3 2^-8 up to 1 + 2^-6.
// CHECK-LABEL: @recipes
// CHECK-NEXT: 3x3 [1, 2, 3, 4, 5, 6, -1, -2, -3]
// CHECK-NEXT: 2x6 [1, 2, 3, 1, 2, 3, 4, 5, 6, 4, 5, 6]
// CHECK-NEXT: 3x2 [1, 4, 2, 5, 3, 6]
// CHECK-NEXT: 2x2 [1, 1, 1.01562, 0.100098]
// CHECK-NEXT: 2x3 [1, 4, -6, 4, 10, -12]
func.func @recipes() -> (tensor<3x3xbf16>, tensor<2x6xbf16>, tensor<3x2xbf16>, tensor<2x2xbf16>, tensor<2x3xbf16>) {
  %0 = fovea.weight_ref @rows : tensor<3x3xbf16>
  %1 = fovea.weight_ref @columns : tensor<2x6xbf16>
  %2 = fovea.weight_ref @transposed : tensor<3x2xbf16>
  %3 = fovea.weight_ref @rounded : tensor<2x2xbf16>
  %4 = fovea.weight_ref @scaled : tensor<2x3xbf16>
  return %0, %1, %2, %3, %4 : tensor<3x3xbf16>, tensor<2x6xbf16>, tensor<3x2xbf16>, tensor<2x2xbf16>, tensor<2x3xbf16>
}

fovea.weight @permuted : tensor<2x1x3xbf16> = #fovea.permute<#fovea.reshape<#fovea.stored<"small.safetensors", "bf16", tensor<2x3xbf16>>, [1, 3, 2]>, [2, 0, 1]>
fovea.weight @sliced : tensor<2x2xbf16> = #fovea.slice<#fovea.stored<"small.safetensors", "bf16", tensor<2x3xbf16>>, 1 from 1 count 2>

// CHECK-LABEL: @views
// CHECK-NEXT: 2x1x3 [1, 3, 5, 2, 4, 6]
// CHECK-NEXT: 2x2 [2, 3, 5, 6]
func.func @views() -> (tensor<2x1x3xbf16>, tensor<2x2xbf16>) {
  %0 = fovea.weight_ref @permuted : tensor<2x1x3xbf16>
  %1 = fovea.weight_ref @sliced : tensor<2x2xbf16>
  return %0, %1 : tensor<2x1x3xbf16>, tensor<2x2xbf16>
}

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
