// RUN: fovea-interpret %s --weights %S/Inputs/weights | FileCheck %s
// RUN: fovea-interpret %s --weights %S/Inputs/weights --exact --entry wide | FileCheck %s --check-prefix=EXACT

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
