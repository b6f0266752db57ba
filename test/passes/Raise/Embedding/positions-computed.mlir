// RUN: fovea-opt %s --fovea-raise-embedding | FileCheck %s

// Positions computed for each row of the batch, from a first one that the caller gives.

// CHECK-LABEL: func.func @computed
// CHECK-SAME: (%[[IDS:.*]]: tensor<3x?xi64>, %[[PAST:.*]]: index, %[[TABLE:.*]]: tensor<9x4xf32>)
// CHECK: fovea.positions from %[[PAST]] count %{{.*}} : tensor<1x?xi32>
// CHECK: fovea.position_learned %{{.*}}, %[[TABLE]] : tensor<1x?xi32>
// CHECK: linalg.broadcast
// CHECK-NOT: fovea.embedding
func.func @computed(%ids: tensor<3x?xi64>, %past: index, %table: tensor<9x4xf32>) -> tensor<3x?x4xf32> {
  %c1 = arith.constant 1 : index
  %s = tensor.dim %ids, %c1 : tensor<3x?xi64>
  %e = tensor.empty(%s) : tensor<3x?xi64>
  %p = linalg.generic {indexing_maps = [affine_map<(b, s) -> (b, s)>], iterator_types = ["parallel", "parallel"]} outs(%e : tensor<3x?xi64>) {
  ^bb0(%out: i64):
    %i = linalg.index 1 : index
    %1 = arith.addi %i, %past : index
    %2 = arith.index_cast %1 : index to i64
    linalg.yield %2 : i64
  } -> tensor<3x?xi64>
  %0 = fovea.embedding %p, %table : tensor<3x?xi64>, tensor<9x4xf32> -> tensor<3x?x4xf32>
  return %0 : tensor<3x?x4xf32>
}
