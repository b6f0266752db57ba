// RUN: fovea-interpret %s --weights %S/Inputs/weights | FileCheck %s

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
