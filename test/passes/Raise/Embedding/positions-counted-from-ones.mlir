// RUN: fovea-opt %s --fovea-raise-embedding --canonicalize -split-input-file | FileCheck %s

// Positions as the running sum of a mask of ones, of which a slice with clamped bounds leaves those behind the past: they count from
// its length.
// CHECK-LABEL: func.func @counted
// CHECK-SAME: (%[[IDS:.*]]: tensor<2x?xi64>, %[[PAST:.*]]: index, %[[TABLE:.*]]: tensor<9x4xf32>)
// CHECK-DAG: %[[S:.*]] = tensor.dim %[[IDS]]
// CHECK-DAG: %[[ONE:.*]] = arith.constant 1 : index
// CHECK-DAG: %[[FIRST:.*]] = arith.addi %[[PAST]], %[[ONE]]
// CHECK: fovea.positions from %[[FIRST]] count %[[S]] : tensor<1x?xi32>
// CHECK: fovea.position_learned
// CHECK-NOT: fovea.embedding
func.func @counted(%ids: tensor<2x?xi64>, %past: index, %table: tensor<9x4xf32>) -> tensor<2x?x4xf32> {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %one = arith.constant 1 : i64
  %zero = arith.constant 0 : i64
  %s = tensor.dim %ids, %c1 : tensor<2x?xi64>
  %t = arith.addi %past, %s : index
  %mask = tensor.splat %one[%t] : tensor<2x?xi64>
  %e = tensor.empty(%t) : tensor<2x?xi64>
  %z = linalg.fill ins(%zero : i64) outs(%e : tensor<2x?xi64>) -> tensor<2x?xi64>
  %sum = linalg.generic {indexing_maps = [affine_map<(b, i, k) -> (b, k)>, affine_map<(b, i, k) -> (b, i)>], iterator_types = ["parallel", "parallel", "reduction"]}
      ins(%mask : tensor<2x?xi64>) outs(%z : tensor<2x?xi64>) {
  ^bb0(%in: i64, %out: i64):
    %i = linalg.index 1 : index
    %k = linalg.index 2 : index
    %upto = arith.cmpi sle, %k, %i : index
    %term = arith.select %upto, %in, %zero : i64
    %next = arith.addi %out, %term : i64
    linalg.yield %next : i64
  } -> tensor<2x?xi64>
  %begin = arith.minsi %t, %past : index
  %left = arith.subi %t, %begin : index
  %count = arith.maxsi %left, %c0 : index
  %p = tensor.extract_slice %sum[0, %begin] [2, %count] [1, 1] : tensor<2x?xi64> to tensor<2x?xi64>
  %0 = fovea.embedding %p, %table : tensor<2x?xi64>, tensor<9x4xf32> -> tensor<2x?x4xf32>
  return %0 : tensor<2x?x4xf32>
}

// -----

// A mask that is an argument is counted as it is.
// CHECK-LABEL: func.func @any_mask
// CHECK: linalg.generic
// CHECK: fovea.embedding
// CHECK-NOT: fovea.positions
func.func @any_mask(%mask: tensor<2x?xi64>, %table: tensor<9x4xf32>) -> tensor<2x?x4xf32> {
  %c1 = arith.constant 1 : index
  %zero = arith.constant 0 : i64
  %t = tensor.dim %mask, %c1 : tensor<2x?xi64>
  %e = tensor.empty(%t) : tensor<2x?xi64>
  %z = linalg.fill ins(%zero : i64) outs(%e : tensor<2x?xi64>) -> tensor<2x?xi64>
  %sum = linalg.generic {indexing_maps = [affine_map<(b, i, k) -> (b, k)>, affine_map<(b, i, k) -> (b, i)>], iterator_types = ["parallel", "parallel", "reduction"]}
      ins(%mask : tensor<2x?xi64>) outs(%z : tensor<2x?xi64>) {
  ^bb0(%in: i64, %out: i64):
    %i = linalg.index 1 : index
    %k = linalg.index 2 : index
    %upto = arith.cmpi sle, %k, %i : index
    %term = arith.select %upto, %in, %zero : i64
    %next = arith.addi %out, %term : i64
    linalg.yield %next : i64
  } -> tensor<2x?xi64>
  %0 = fovea.embedding %sum, %table : tensor<2x?xi64>, tensor<9x4xf32> -> tensor<2x?x4xf32>
  return %0 : tensor<2x?x4xf32>
}

// -----

// Places are counted up to one that may be behind the end: that is not their number.
// CHECK-LABEL: func.func @past_the_end
// CHECK: fovea.embedding
// CHECK-NOT: fovea.positions
func.func @past_the_end(%ids: tensor<2x?xi64>, %more: index, %table: tensor<9x4xf32>) -> tensor<2x?x4xf32> {
  %c1 = arith.constant 1 : index
  %one = arith.constant 1 : i64
  %zero = arith.constant 0 : i64
  %t = tensor.dim %ids, %c1 : tensor<2x?xi64>
  %mask = tensor.splat %one[%t] : tensor<2x?xi64>
  %e = tensor.empty(%t) : tensor<2x?xi64>
  %z = linalg.fill ins(%zero : i64) outs(%e : tensor<2x?xi64>) -> tensor<2x?xi64>
  %sum = linalg.generic {indexing_maps = [affine_map<(b, i, k) -> (b, k)>, affine_map<(b, i, k) -> (b, i)>], iterator_types = ["parallel", "parallel", "reduction"]}
      ins(%mask : tensor<2x?xi64>) outs(%z : tensor<2x?xi64>) {
  ^bb0(%in: i64, %out: i64):
    %i = linalg.index 1 : index
    %k = linalg.index 2 : index
    %end = arith.addi %i, %more : index
    %upto = arith.cmpi sle, %k, %end : index
    %term = arith.select %upto, %in, %zero : i64
    %next = arith.addi %out, %term : i64
    linalg.yield %next : i64
  } -> tensor<2x?xi64>
  %0 = fovea.embedding %sum, %table : tensor<2x?xi64>, tensor<9x4xf32> -> tensor<2x?x4xf32>
  return %0 : tensor<2x?x4xf32>
}
