// RUN: fovea-opt %s --fovea-raise-embedding | FileCheck %s

// CHECK-LABEL: func.func @gather
// CHECK-SAME: (%[[IDS:.*]]: tensor<?x?xi64>, %[[TABLE:.*]]: tensor<9x4xf32>)
// CHECK: %[[Y:.*]] = fovea.embedding %[[IDS]], %[[TABLE]] : tensor<?x?xi64>, tensor<9x4xf32> -> tensor<?x?x4xf32>
// CHECK-NEXT: return %[[Y]]
func.func @gather(%ids: tensor<?x?xi64>, %table: tensor<9x4xf32>) -> tensor<?x?x4xf32> {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %n = tensor.dim %ids, %c0 : tensor<?x?xi64>
  %s = tensor.dim %ids, %c1 : tensor<?x?xi64>
  %e = tensor.empty(%n, %s) : tensor<?x?x4xf32>
  %0 = linalg.generic {indexing_maps = [affine_map<(b, s, d) -> (b, s)>, affine_map<(b, s, d) -> (b, s, d)>], iterator_types = ["parallel", "parallel", "parallel"]}
      ins(%ids : tensor<?x?xi64>) outs(%e : tensor<?x?x4xf32>) {
  ^bb0(%id: i64, %out: f32):
    %d = linalg.index 2 : index
    %i = arith.index_cast %id : i64 to index
    %1 = tensor.extract %table[%i, %d] : tensor<9x4xf32>
    linalg.yield %1 : f32
  } -> tensor<?x?x4xf32>
  return %0 : tensor<?x?x4xf32>
}
