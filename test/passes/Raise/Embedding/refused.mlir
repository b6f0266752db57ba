// RUN: fovea-opt %s --fovea-raise-embedding | FileCheck %s

// No positions: a gap in the numbers; along the batch. No embedding: rows along the column.

// CHECK-LABEL: func.func @refused
// CHECK: fovea.embedding
// CHECK: fovea.embedding
// CHECK: linalg.generic
// CHECK-NOT: fovea.embedding
// CHECK: return
func.func @refused(%table: tensor<4x4xf32>, %ids: tensor<4xi64>, %e: tensor<4x4xf32>) -> (tensor<1x4x4xf32>, tensor<4x1x4xf32>, tensor<4x4xf32>) {
  %gap = arith.constant dense<[[0, 1, 3, 4]]> : tensor<1x4xi64>
  %batch = arith.constant dense<[[0], [1], [2], [3]]> : tensor<4x1xi64>
  %0 = fovea.embedding %gap, %table : tensor<1x4xi64>, tensor<4x4xf32> -> tensor<1x4x4xf32>
  %1 = fovea.embedding %batch, %table : tensor<4x1xi64>, tensor<4x4xf32> -> tensor<4x1x4xf32>
  %2 = linalg.generic {indexing_maps = [affine_map<(i, j) -> (j)>, affine_map<(i, j) -> (i, j)>], iterator_types = ["parallel", "parallel"]} ins(%ids : tensor<4xi64>) outs(%e : tensor<4x4xf32>) {
  ^bb0(%id: i64, %out: f32):
    %i = arith.index_cast %id : i64 to index
    %j = linalg.index 1 : index
    %3 = tensor.extract %table[%i, %j] : tensor<4x4xf32>
    linalg.yield %3 : f32
  } -> tensor<4x4xf32>
  return %0, %1, %2 : tensor<1x4x4xf32>, tensor<4x1x4xf32>, tensor<4x4xf32>
}
