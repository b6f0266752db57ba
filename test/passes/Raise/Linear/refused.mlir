// RUN: fovea-opt %s --fovea-raise-linear | FileCheck %s

// No linear: two computed operands; a weight for each batch; a weight whose extra axis is summed alone; integers.

// CHECK-LABEL: func.func @refused
// CHECK-NOT: fovea.linear
// CHECK: return
fovea.weight @w : tensor<2x3xf32> = #fovea.stored<"f", "w", tensor<2x3xf32>>
fovea.weight @w3 : tensor<4x2x3xf32> = #fovea.stored<"f", "w3", tensor<4x2x3xf32>>
fovea.weight @wi : tensor<2x3xi32> = #fovea.stored<"f", "wi", tensor<2x3xi32>>
func.func @refused(%x: tensor<4x2xf32>, %y: tensor<2x3xf32>, %xb: tensor<4x5x2xf32>, %xi: tensor<4x2xi32>, %f: tensor<4x3xf32>, %fb: tensor<4x5x3xf32>, %fi: tensor<4x3xi32>)
    -> (tensor<4x3xf32>, tensor<4x5x3xf32>, tensor<4x3xf32>, tensor<4x3xi32>) {
  %w = fovea.weight_ref @w : tensor<2x3xf32>
  %w3 = fovea.weight_ref @w3 : tensor<4x2x3xf32>
  %wi = fovea.weight_ref @wi : tensor<2x3xi32>
  %0 = linalg.matmul ins(%x, %y : tensor<4x2xf32>, tensor<2x3xf32>) outs(%f : tensor<4x3xf32>) -> tensor<4x3xf32>
  %1 = linalg.batch_matmul ins(%xb, %w3 : tensor<4x5x2xf32>, tensor<4x2x3xf32>) outs(%fb : tensor<4x5x3xf32>) -> tensor<4x5x3xf32>
  %2 = linalg.generic {indexing_maps = [affine_map<(m, n, k, j) -> (m, k)>, affine_map<(m, n, k, j) -> (j, k, n)>, affine_map<(m, n, k, j) -> (m, n)>], iterator_types = ["parallel", "parallel", "reduction", "reduction"]}
      ins(%x, %w3 : tensor<4x2xf32>, tensor<4x2x3xf32>) outs(%f : tensor<4x3xf32>) {
  ^bb0(%p: f32, %q: f32, %out: f32):
    %4 = arith.mulf %p, %q : f32
    %5 = arith.addf %out, %4 : f32
    linalg.yield %5 : f32
  } -> tensor<4x3xf32>
  %3 = linalg.matmul ins(%xi, %wi : tensor<4x2xi32>, tensor<2x3xi32>) outs(%fi : tensor<4x3xi32>) -> tensor<4x3xi32>
  return %0, %1, %2, %3 : tensor<4x3xf32>, tensor<4x5x3xf32>, tensor<4x3xf32>, tensor<4x3xi32>
}
