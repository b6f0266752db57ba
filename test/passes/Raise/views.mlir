// RUN: fovea-opt %s --fovea-raise-views --split-input-file | FileCheck %s

// CHECK-LABEL: func.func @permutation
// CHECK-NOT: linalg.generic
// CHECK: linalg.transpose ins(%arg0 : tensor<?x?x8xf32>) outs(%{{.*}} : tensor<?x?x8xf32>) permutation = [1, 0, 2]
func.func @permutation(%x: tensor<?x?x8xf32>, %init: tensor<?x?x8xf32>) -> tensor<?x?x8xf32> {
  %0 = linalg.generic {indexing_maps = [affine_map<(s, b, d) -> (b, s, d)>, affine_map<(s, b, d) -> (s, b, d)>], iterator_types = ["parallel", "parallel", "parallel"]}
      ins(%x : tensor<?x?x8xf32>) outs(%init : tensor<?x?x8xf32>) {
  ^bb0(%in: f32, %out: f32):
    linalg.yield %in : f32
  } -> tensor<?x?x8xf32>
  return %0 : tensor<?x?x8xf32>
}

// -----

// The axis that is read at 0 goes, the two that are left change places, a new one comes between.

// CHECK-LABEL: func.func @broadcast
// CHECK-SAME: (%[[X:.*]]: tensor<3x1x?xf32>, %[[INIT:.*]]: tensor<?x5x3xf32>)
// CHECK: %[[C:.*]] = tensor.collapse_shape %[[X]] {{\[\[}}0], [1, 2]] : tensor<3x1x?xf32> into tensor<3x?xf32>
// CHECK: %[[T:.*]] = linalg.transpose ins(%[[C]] : tensor<3x?xf32>) outs(%{{.*}} : tensor<?x3xf32>) permutation = [1, 0]
// CHECK: linalg.broadcast ins(%[[T]] : tensor<?x3xf32>) outs(%[[INIT]] : tensor<?x5x3xf32>) dimensions = [1]
func.func @broadcast(%x: tensor<3x1x?xf32>, %init: tensor<?x5x3xf32>) -> tensor<?x5x3xf32> {
  %0 = linalg.generic {indexing_maps = [affine_map<(i, j, k) -> (k, 0, i)>, affine_map<(i, j, k) -> (i, j, k)>], iterator_types = ["parallel", "parallel", "parallel"]}
      ins(%x : tensor<3x1x?xf32>) outs(%init : tensor<?x5x3xf32>) {
  ^bb0(%in: f32, %out: f32):
    linalg.yield %in : f32
  } -> tensor<?x5x3xf32>
  return %0 : tensor<?x5x3xf32>
}

// -----

// CHECK-LABEL: func.func @one_op
// CHECK-SAME: (%[[X:.*]]: tensor<?x4xf32>, %[[Y:.*]]: tensor<?x4xf32>, %{{.*}})
// CHECK: arith.subf %[[Y]], %[[X]] : tensor<?x4xf32>
func.func @one_op(%x: tensor<?x4xf32>, %y: tensor<?x4xf32>, %init: tensor<?x4xf32>) -> tensor<?x4xf32> {
  %0 = linalg.generic {indexing_maps = [affine_map<(i, j) -> (i, j)>, affine_map<(i, j) -> (i, j)>, affine_map<(i, j) -> (i, j)>], iterator_types = ["parallel", "parallel"]}
      ins(%x, %y : tensor<?x4xf32>, tensor<?x4xf32>) outs(%init : tensor<?x4xf32>) {
  ^bb0(%a: f32, %b: f32, %out: f32):
    %1 = arith.subf %b, %a : f32
    linalg.yield %1 : f32
  } -> tensor<?x4xf32>
  return %0 : tensor<?x4xf32>
}

// -----

// CHECK-LABEL: func.func @identities
// CHECK-SAME: (%[[X:.*]]: tensor<?x4xf32>)
// CHECK-NEXT: return %[[X]]
func.func @identities(%x: tensor<?x4xf32>) -> tensor<?x4xf32> {
  %c0 = arith.constant 0 : index
  %n = tensor.dim %x, %c0 : tensor<?x4xf32>
  %0 = tensor.extract_slice %x[0, 0] [%n, 4] [1, 1] : tensor<?x4xf32> to tensor<?x4xf32>
  %1 = tensor.concat dim(0) %0 : (tensor<?x4xf32>) -> tensor<?x4xf32>
  return %1 : tensor<?x4xf32>
}

// -----

// Not an identity: the size may be less than the source's; the body reads the old result; the reading is no permutation.

// CHECK-LABEL: func.func @stays
// CHECK: tensor.extract_slice
// CHECK: linalg.generic
// CHECK: linalg.generic
func.func @stays(%x: tensor<?x?xf32>, %n: index) -> (tensor<?x?xf32>, tensor<?x?xf32>, tensor<?xf32>) {
  %c1 = arith.constant 1 : index
  %m = tensor.dim %x, %c1 : tensor<?x?xf32>
  %0 = tensor.extract_slice %x[0, 0] [%n, %m] [1, 1] : tensor<?x?xf32> to tensor<?x?xf32>
  %1 = linalg.generic {indexing_maps = [affine_map<(i, j) -> (i, j)>, affine_map<(i, j) -> (i, j)>], iterator_types = ["parallel", "parallel"]}
      ins(%0 : tensor<?x?xf32>) outs(%x : tensor<?x?xf32>) {
  ^bb0(%a: f32, %out: f32):
    %4 = arith.addf %a, %out : f32
    linalg.yield %4 : f32
  } -> tensor<?x?xf32>
  %2 = tensor.empty(%n) : tensor<?xf32>
  %3 = linalg.generic {indexing_maps = [affine_map<(i) -> (i, i)>, affine_map<(i) -> (i)>], iterator_types = ["parallel"]}
      ins(%x : tensor<?x?xf32>) outs(%2 : tensor<?xf32>) {
  ^bb0(%a: f32, %out: f32):
    linalg.yield %a : f32
  } -> tensor<?xf32>
  return %0, %1, %3 : tensor<?x?xf32>, tensor<?x?xf32>, tensor<?xf32>
}
