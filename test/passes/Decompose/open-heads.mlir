// RUN: fovea-opt %s --fovea-decompose | FileCheck %s

// Each head at each place is a place, with the position once for each of them.
// CHECK-LABEL: func.func @open_heads(
// CHECK-SAME: %[[X:.*]]: tensor<?x?x?x8xf32>, %[[P:.*]]: tensor<1x?xi32>)
// CHECK: %[[REPEATED:.*]] = linalg.broadcast ins(%[[P]] : tensor<1x?xi32>) outs(%{{.*}} : tensor<1x?x?xi32>) dimensions = [2]
// CHECK: %[[AT:.*]] = tensor.collapse_shape %[[REPEATED]] {{\[\[}}0], [1, 2]]
// CHECK: %[[ROWS:.*]] = tensor.collapse_shape %[[X]] {{\[\[}}0], [1, 2], [3]]
// CHECK: %[[HEADS:.*]] = tensor.expand_shape %[[ROWS]] {{\[\[}}0], [1], [2, 3]]
// CHECK: %[[Y:.*]] = fovea.rope half %[[HEADS]] at(%[[AT]] : tensor<1x?xi32>) dim(8) {{.*}} : tensor<?x?x1x8xf32>
// CHECK: tensor.expand_shape {{.*}} into tensor<?x?x?x8xf32>
func.func @open_heads(%x: tensor<?x?x?x8xf32>, %p: tensor<1x?xi32>) -> tensor<?x?x?x8xf32> {
  %y = fovea.rope half %x at(%p : tensor<1x?xi32>) dim(8) theta(1.0e4) : tensor<?x?x?x8xf32>
  return %y : tensor<?x?x?x8xf32>
}
