// RUN: fovea-opt %s --fovea-raise-linear | FileCheck %s

// What another op reads too has no bias; one that is as long as another axis is none.

// CHECK-LABEL: func.func @no_bias
// CHECK: fovea.linear %{{[^ ]*}}, %{{[^ ]*}} : tensor<3x2xf32>
// CHECK: linalg.generic
// CHECK: fovea.linear %{{[^ ]*}}, %{{[^ ]*}} : tensor<3x2xf32>
// CHECK: linalg.generic
fovea.weight @w : tensor<2x3xf32> = #fovea.stored<"f", "w", tensor<2x3xf32>>
fovea.weight @b : tensor<3xf32> = #fovea.stored<"f", "b", tensor<3xf32>>
#all = affine_map<(i, j) -> (i, j)>
func.func @no_bias(%x: tensor<3x2xf32>) -> (tensor<3x3xf32>, tensor<3x3xf32>, tensor<3x3xf32>) {
  %zero = arith.constant 0.0 : f32
  %w = fovea.weight_ref @w : tensor<2x3xf32>
  %b = fovea.weight_ref @b : tensor<3xf32>
  %e = tensor.empty() : tensor<3x3xf32>
  %f = linalg.fill ins(%zero : f32) outs(%e : tensor<3x3xf32>) -> tensor<3x3xf32>
  %0 = linalg.matmul ins(%x, %w : tensor<3x2xf32>, tensor<2x3xf32>) outs(%f : tensor<3x3xf32>) -> tensor<3x3xf32>
  %1 = linalg.generic {indexing_maps = [#all, affine_map<(i, j) -> (j)>, #all], iterator_types = ["parallel", "parallel"]}
      ins(%0, %b : tensor<3x3xf32>, tensor<3xf32>) outs(%e : tensor<3x3xf32>) {
  ^bb0(%p: f32, %q: f32, %out: f32):
    %4 = arith.addf %p, %q : f32
    linalg.yield %4 : f32
  } -> tensor<3x3xf32>
  %2 = linalg.matmul ins(%x, %w : tensor<3x2xf32>, tensor<2x3xf32>) outs(%f : tensor<3x3xf32>) -> tensor<3x3xf32>
  %3 = linalg.generic {indexing_maps = [#all, affine_map<(i, j) -> (i)>, #all], iterator_types = ["parallel", "parallel"]}
      ins(%2, %b : tensor<3x3xf32>, tensor<3xf32>) outs(%e : tensor<3x3xf32>) {
  ^bb0(%p: f32, %q: f32, %out: f32):
    %4 = arith.addf %p, %q : f32
    linalg.yield %4 : f32
  } -> tensor<3x3xf32>
  return %0, %1, %3 : tensor<3x3xf32>, tensor<3x3xf32>, tensor<3x3xf32>
}
