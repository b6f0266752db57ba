// RUN: fovea-opt %s --fovea-raise-views | FileCheck %s

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
