// RUN: fovea-opt %s --fovea-to-kernels | FileCheck %s

// 2 rows of 4: 2 * 12 * 2 operations; 8 numbers of 4 bytes, 12 of 2 and 6 of 4.
// CHECK-LABEL: func.func @static_linear(
// CHECK-DAG: %[[FLOPS:.*]] = arith.constant 48 : index
// CHECK-DAG: %[[BYTES:.*]] = arith.constant 80 : index
// CHECK: fovea.launch @linear_0 {{.*}} cost(%[[FLOPS]], %[[BYTES]])
fovea.weight @w : tensor<3x4xbf16> = #fovea.pack<#fovea.stored<"a", "w", tensor<3x4xbf16>>>
func.func @static_linear(%x: tensor<2x4xf32> {fovea.name = "x"}) -> (tensor<2x3xf32> {fovea.name = "y"}) attributes {fovea.entry} {
  %w = fovea.weight_ref @w : tensor<3x4xbf16>
  %0 = fovea.group(%a = %x, %b = %w) schedule(#fovea.contraction<tile = [8, 32], chunk = 16, block = [4, 32]>) : (tensor<2x4xf32>, tensor<3x4xbf16>) -> tensor<2x3xf32> {
    %1 = fovea.linear %a, %b : tensor<2x4xf32>, tensor<3x4xbf16> -> tensor<2x3xf32>
    fovea.yield %1 : tensor<2x3xf32>
  }
  return %0 : tensor<2x3xf32>
}
