// RUN: fovea-opt %s --fovea-raise-linear | FileCheck %s

// Halves as exporters write them: the sum in f32, rounded, and a bias behind it. One linear rounds once.

// CHECK-LABEL: func.func @halves
// CHECK-SAME: (%[[X:.*]]: tensor<?x2xf16>)
// CHECK-DAG: %[[W:.*]] = fovea.weight_ref @{{.*}} : tensor<3x2xf16>
// CHECK-DAG: %[[B:.*]] = fovea.weight_ref @b
// CHECK: %[[Y:.*]] = fovea.linear %[[X]], %[[W]] bias(%[[B]] : tensor<3xf16>) : tensor<?x2xf16>, tensor<3x2xf16> -> tensor<?x3xf16>
// CHECK-NEXT: return %[[Y]]
fovea.weight @w : tensor<2x3xf16> = #fovea.stored<"f", "w", tensor<2x3xf16>>
fovea.weight @b : tensor<3xf16> = #fovea.stored<"f", "b", tensor<3xf16>>
func.func @halves(%x: tensor<?x2xf16>) -> tensor<?x3xf16> {
  %c0 = arith.constant 0 : index
  %zero = arith.constant 0.0 : f32
  %n = tensor.dim %x, %c0 : tensor<?x2xf16>
  %w = fovea.weight_ref @w : tensor<2x3xf16>
  %b = fovea.weight_ref @b : tensor<3xf16>
  %init = tensor.empty(%n) : tensor<?x3xf32>
  %0 = linalg.fill ins(%zero : f32) outs(%init : tensor<?x3xf32>) -> tensor<?x3xf32>
  %1 = linalg.matmul ins(%x, %w : tensor<?x2xf16>, tensor<2x3xf16>) outs(%0 : tensor<?x3xf32>) -> tensor<?x3xf32>
  %2 = arith.truncf %1 : tensor<?x3xf32> to tensor<?x3xf16>
  %empty = tensor.empty(%n) : tensor<?x3xf16>
  %3 = linalg.generic {indexing_maps = [affine_map<(m, n) -> (m, n)>, affine_map<(m, n) -> (n)>, affine_map<(m, n) -> (m, n)>], iterator_types = ["parallel", "parallel"]}
      ins(%2, %b : tensor<?x3xf16>, tensor<3xf16>) outs(%empty : tensor<?x3xf16>) {
  ^bb0(%p: f16, %q: f16, %out: f16):
    %4 = arith.addf %p, %q : f16
    linalg.yield %4 : f16
  } -> tensor<?x3xf16>
  return %3 : tensor<?x3xf16>
}
