// RUN: fovea-opt %s --fovea-raise-views | FileCheck %s

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
