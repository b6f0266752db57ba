// RUN: fovea-opt %s --fovea-form-groups --canonicalize | FileCheck %s

// Constants, empty tensors and scalar code go in, also what a region captures.

// CHECK-LABEL: func.func @scalars
// CHECK-SAME: (%[[X:.*]]: tensor<?xf32>, %[[N:.*]]: index, %[[T:.*]]: tensor<3xf32>)
// CHECK: fovea.group(%[[A:.*]] = %[[X]], %[[B:.*]] = %[[N]], %[[C:.*]] = %[[T]])
// CHECK-DAG: %[[E:.*]] = tensor.empty(%[[B]])
// CHECK-DAG: %[[S:.*]] = tensor.extract %[[C]]
// CHECK-DAG: %[[F:.*]] = math.sqrt %[[S]]
// CHECK: linalg.generic {{.*}} ins(%[[A]] : tensor<?xf32>) outs(%[[E]] : tensor<?xf32>)
// CHECK: arith.mulf %{{.*}}, %[[F]]
// CHECK: fovea.yield
func.func @scalars(%x: tensor<?xf32>, %n: index, %t: tensor<3xf32>) -> tensor<?xf32> {
  %c1 = arith.constant 1 : index
  %e = tensor.empty(%n) : tensor<?xf32>
  %s = tensor.extract %t[%c1] : tensor<3xf32>
  %f = math.sqrt %s : f32
  %y = linalg.generic {indexing_maps = [affine_map<(d0) -> (d0)>, affine_map<(d0) -> (d0)>], iterator_types = ["parallel"]} ins(%x : tensor<?xf32>) outs(%e : tensor<?xf32>) {
  ^bb0(%a: f32, %o: f32):
    %z = arith.mulf %a, %f : f32
    linalg.yield %z : f32
  } -> tensor<?xf32>
  return %y : tensor<?xf32>
}
