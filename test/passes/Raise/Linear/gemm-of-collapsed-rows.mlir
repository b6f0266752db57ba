// RUN: fovea-opt %s --fovea-raise-linear | FileCheck %s

// Gemm of collapsed rows, its weight transposed in the graph from [N, K], and the weight as the first operand.

// CHECK-LABEL: func.func @gemm
// CHECK-SAME: (%[[X:.*]]: tensor<?x?x2xf32>)
// CHECK-DAG: %[[W:.*]] = fovea.weight_ref @w : tensor<3x2xf32>
// CHECK-DAG: %[[B:.*]] = fovea.weight_ref @b
// CHECK: %[[Y:.*]] = fovea.linear %[[X]], %[[W]] bias(%[[B]] : tensor<3xf32>) : tensor<?x?x2xf32>, tensor<3x2xf32> -> tensor<?x?x3xf32>
// CHECK-NEXT: return %[[Y]]
fovea.weight @w : tensor<3x2xf32> = #fovea.stored<"f", "w", tensor<3x2xf32>>
fovea.weight @b : tensor<3xf32> = #fovea.stored<"f", "b", tensor<3xf32>>
func.func @gemm(%x: tensor<?x?x2xf32>) -> tensor<?x?x3xf32> {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %zero = arith.constant 0.0 : f32
  %n = tensor.dim %x, %c0 : tensor<?x?x2xf32>
  %s = tensor.dim %x, %c1 : tensor<?x?x2xf32>
  %rows = arith.muli %n, %s : index
  %w = fovea.weight_ref @w : tensor<3x2xf32>
  %e = tensor.empty() : tensor<2x3xf32>
  %t = linalg.transpose ins(%w : tensor<3x2xf32>) outs(%e : tensor<2x3xf32>) permutation = [1, 0]
  %f = tensor.collapse_shape %x [[0, 1], [2]] : tensor<?x?x2xf32> into tensor<?x2xf32>
  %init = tensor.empty(%rows) : tensor<?x3xf32>
  %0 = linalg.fill ins(%zero : f32) outs(%init : tensor<?x3xf32>) -> tensor<?x3xf32>
  %1 = linalg.contract indexing_maps = [affine_map<(r, n, k) -> (k, n)>, affine_map<(r, n, k) -> (r, k)>, affine_map<(r, n, k) -> (r, n)>]
       ins(%t, %f : tensor<2x3xf32>, tensor<?x2xf32>) outs(%0 : tensor<?x3xf32>) -> tensor<?x3xf32>
  %b = fovea.weight_ref @b : tensor<3xf32>
  %bb = linalg.broadcast ins(%b : tensor<3xf32>) outs(%init : tensor<?x3xf32>) dimensions = [0]
  %2 = arith.addf %1, %bb : tensor<?x3xf32>
  %3 = tensor.expand_shape %2 [[0, 1], [2]] output_shape [%n, %s, 3] : tensor<?x3xf32> into tensor<?x?x3xf32>
  return %3 : tensor<?x?x3xf32>
}
