// RUN: fovea-opt %s --fovea-decompose | FileCheck %s

// What a tile program computes stays as it is.
// CHECK-LABEL: func.func @kept(
// CHECK-NEXT: fovea.layer_norm
// CHECK-NEXT: linalg.softmax
// CHECK-NEXT: fovea.rope
// CHECK-NEXT: return
func.func @kept(%x: tensor<?x131072xf32>, %y: tensor<?x?x2x8xf32>, %p: tensor<1x?xi32>) -> (tensor<?x131072xf32>, tensor<?x?x2x8xf32>) {
  %0 = fovea.layer_norm %x eps(1.0e-5) : tensor<?x131072xf32>
  %1 = linalg.softmax dimension(1) ins(%0 : tensor<?x131072xf32>) outs(%x : tensor<?x131072xf32>) -> tensor<?x131072xf32>
  %2 = fovea.rope half %y at(%p : tensor<1x?xi32>) dim(8) theta(1.0e4) : tensor<?x?x2x8xf32>
  return %1, %2 : tensor<?x131072xf32>, tensor<?x?x2x8xf32>
}
