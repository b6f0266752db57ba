// RUN: fovea-interpret %s --weights %S/Inputs/weights | FileCheck %s

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
