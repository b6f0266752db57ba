// RUN: fovea-opt %s --fovea-raise-embedding | FileCheck %s

// A buffer of positions, sliced, that begins at 2; the sum broadcasts over the batch.

// CHECK-LABEL: func.func @buffer
// CHECK-SAME: (%[[X:.*]]: tensor<?x?x4xf32>, %[[TABLE:.*]]: tensor<9x4xf32>)
// CHECK-DAG: %[[ZERO:.*]] = arith.constant 0 : index
// CHECK-DAG: %[[ONE:.*]] = arith.constant 1 : index
// CHECK-DAG: %[[S:.*]] = tensor.dim %[[X]], %[[ONE]]
// CHECK: %[[P:.*]] = fovea.positions from %[[ZERO]]{{[_0-9]*}} count %{{.*}} : tensor<1x?xi32>
// CHECK: %[[L:.*]] = fovea.position_learned %[[P]], %[[TABLE]] offset(2) : tensor<1x?xi32>, tensor<9x4xf32> -> tensor<1x?x4xf32>
// CHECK: %[[C:.*]] = tensor.collapse_shape %[[L]] {{\[\[}}0, 1], [2]]
// CHECK: %[[B:.*]] = linalg.broadcast ins(%[[C]] : tensor<?x4xf32>) outs(%{{.*}} : tensor<?x?x4xf32>) dimensions = [0]
// CHECK: arith.addf %[[X]], %[[B]]
func.func @buffer(%x: tensor<?x?x4xf32>, %table: tensor<9x4xf32>) -> tensor<?x?x4xf32> {
  %c1 = arith.constant 1 : index
  %all = arith.constant dense<[[2, 3, 4, 5, 6]]> : tensor<1x5xi64>
  %s = tensor.dim %x, %c1 : tensor<?x?x4xf32>
  %ids = tensor.extract_slice %all[0, 0] [1, %s] [1, 1] : tensor<1x5xi64> to tensor<1x?xi64>
  %p = fovea.embedding %ids, %table : tensor<1x?xi64>, tensor<9x4xf32> -> tensor<1x?x4xf32>
  %y = linalg.generic {indexing_maps = [affine_map<(b, s, d) -> (b, s, d)>, affine_map<(b, s, d) -> (0, s, d)>, affine_map<(b, s, d) -> (b, s, d)>], iterator_types = ["parallel", "parallel", "parallel"]}
      ins(%x, %p : tensor<?x?x4xf32>, tensor<1x?x4xf32>) outs(%x : tensor<?x?x4xf32>) {
  ^bb0(%a: f32, %c: f32, %out: f32):
    %1 = arith.addf %a, %c : f32
    linalg.yield %1 : f32
  } -> tensor<?x?x4xf32>
  return %y : tensor<?x?x4xf32>
}
