// RUN: fovea-opt %s --fovea-to-kernels | FileCheck %s

// A product: two operations for each weight and row; activations and weights once.
// CHECK-LABEL: func.func @linear(
// CHECK-SAME: %[[X:.*]]: memref<?x4xf32>
// CHECK-DAG: %[[ROWS:.*]] = memref.dim %[[X]]
// CHECK-DAG: %[[C24:.*]] = arith.constant 24 : index
// CHECK-DAG: %[[FLOPS:.*]] = arith.muli %[[ROWS]], %[[C24]]
// CHECK: fovea.launch @linear_0 {{.*}} cost(%[[FLOPS]], %{{.*}})
// CHECK: func.func private @linear_0({{.*}}) attributes {fovea.computes = "linear [3, 4] bf16", fovea.schedule = #fovea.contraction<tile = [8, 32], chunk = 16, block = [4, 32]>}
fovea.weight @w : tensor<3x4xbf16> = #fovea.pack<#fovea.stored<"a", "w", tensor<3x4xbf16>>>
func.func @linear(%x: tensor<?x4xf32> {fovea.name = "x"}) -> (tensor<?x3xf32> {fovea.name = "y"}) attributes {fovea.entry} {
  %w = fovea.weight_ref @w : tensor<3x4xbf16>
  %0 = fovea.group(%a = %x, %b = %w) schedule(#fovea.contraction<tile = [8, 32], chunk = 16, block = [4, 32]>) : (tensor<?x4xf32>, tensor<3x4xbf16>) -> tensor<?x3xf32> {
    %1 = fovea.linear %a, %b : tensor<?x4xf32>, tensor<3x4xbf16> -> tensor<?x3xf32>
    fovea.yield %1 : tensor<?x3xf32>
  }
  return %0 : tensor<?x3xf32>
}
