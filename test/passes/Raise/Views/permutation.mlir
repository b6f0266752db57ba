// RUN: fovea-opt %s --fovea-raise-views | FileCheck %s

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
