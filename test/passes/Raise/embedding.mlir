// RUN: fovea-opt %s --fovea-raise-embedding --split-input-file | FileCheck %s

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

// -----

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

// -----

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

// -----

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
