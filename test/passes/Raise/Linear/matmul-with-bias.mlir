// RUN: fovea-opt %s --fovea-raise-linear | FileCheck %s

// ONNX: the weight as [K, N], the bias by an elementwise sum.

// CHECK: fovea.weight @[[$T:.*]] : tensor<3x2xf32> = #fovea.transpose<#fovea.stored<"f", "w", tensor<2x3xf32>>>
// CHECK-LABEL: func.func @matmul
// CHECK-SAME: (%[[X:.*]]: tensor<?x?x2xf32>)
// CHECK-DAG: %[[W:.*]] = fovea.weight_ref @[[$T]] : tensor<3x2xf32>
// CHECK-DAG: %[[B:.*]] = fovea.weight_ref @b
// CHECK: %[[Y:.*]] = fovea.linear %[[X]], %[[W]] bias(%[[B]] : tensor<3xf32>) : tensor<?x?x2xf32>, tensor<3x2xf32> -> tensor<?x?x3xf32>
// CHECK-NEXT: return %[[Y]]
fovea.weight @w : tensor<2x3xf32> = #fovea.stored<"f", "w", tensor<2x3xf32>>
fovea.weight @b : tensor<3xf32> = #fovea.stored<"f", "b", tensor<3xf32>>
func.func @matmul(%x: tensor<?x?x2xf32>) -> tensor<?x?x3xf32> {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %zero = arith.constant 0.0 : f32
  %n = tensor.dim %x, %c0 : tensor<?x?x2xf32>
  %s = tensor.dim %x, %c1 : tensor<?x?x2xf32>
  %w = fovea.weight_ref @w : tensor<2x3xf32>
  %init = tensor.empty(%n, %s) : tensor<?x?x3xf32>
  %0 = linalg.fill ins(%zero : f32) outs(%init : tensor<?x?x3xf32>) -> tensor<?x?x3xf32>
  %1 = linalg.contract indexing_maps = [affine_map<(b, s, n, k) -> (b, s, k)>, affine_map<(b, s, n, k) -> (k, n)>, affine_map<(b, s, n, k) -> (b, s, n)>]
       ins(%x, %w : tensor<?x?x2xf32>, tensor<2x3xf32>) outs(%0 : tensor<?x?x3xf32>) -> tensor<?x?x3xf32>
  %b = fovea.weight_ref @b : tensor<3xf32>
  %2 = linalg.generic {indexing_maps = [affine_map<(b, s, n) -> (n)>, affine_map<(b, s, n) -> (b, s, n)>, affine_map<(b, s, n) -> (b, s, n)>], iterator_types = ["parallel", "parallel", "parallel"]}
      ins(%b, %1 : tensor<3xf32>, tensor<?x?x3xf32>) outs(%init : tensor<?x?x3xf32>) {
  ^bb0(%p: f32, %q: f32, %out: f32):
    %3 = arith.addf %p, %q : f32
    linalg.yield %3 : f32
  } -> tensor<?x?x3xf32>
  return %2 : tensor<?x?x3xf32>
}
