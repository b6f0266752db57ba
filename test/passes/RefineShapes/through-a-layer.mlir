// RUN: fovea-opt %s -fovea-refine-shapes | FileCheck %s

// A layer, from one cast to another: what was known at its begin is known at its end.
// CHECK-LABEL: @chain
// CHECK-SAME: %[[X:.*]]: tensor<2x3x8xf32>
// CHECK-NOT: tensor.cast
// CHECK: %[[N:.*]] = fovea.rms_norm %[[X]] {{.*}} : tensor<2x3x8xf32>
// CHECK: %[[L:.*]] = fovea.linear %[[N]], {{.*}} -> tensor<2x3x16xf32>
// CHECK: %[[A:.*]] = fovea.activation gelu %[[L]] : tensor<2x3x16xf32>
// CHECK: %[[E:.*]] = tensor.expand_shape %[[A]] {{.*}} into tensor<2x3x4x4xf32>
// CHECK: %[[R:.*]] = fovea.rope half %[[E]] {{.*}} : tensor<2x3x4x4xf32>
// CHECK: %[[O:.*]], %[[LSE:.*]] = fovea.attention %[[R]], {{.*}} -> tensor<2x3x4x4xf32> lse tensor<2x4x3xf32>
// CHECK-DAG: tensor.cast %[[O]] : tensor<2x3x4x4xf32> to tensor<?x?x4x4xf32>
// CHECK-DAG: tensor.cast %[[LSE]] : tensor<2x4x3xf32> to tensor<?x4x?xf32>
// CHECK: return
func.func @chain(%x: tensor<2x3x8xf32>, %w: tensor<16x8xf32>, %p: tensor<1x?xi32>) -> (tensor<?x?x4x4xf32>, tensor<?x4x?xf32>) {
  %0 = tensor.cast %x : tensor<2x3x8xf32> to tensor<?x?x8xf32>
  %1 = fovea.rms_norm %0 eps(1.0e-5) : tensor<?x?x8xf32>
  %2 = fovea.linear %1, %w : tensor<?x?x8xf32>, tensor<16x8xf32> -> tensor<?x?x16xf32>
  %3 = fovea.activation gelu %2 : tensor<?x?x16xf32>
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %b = tensor.dim %3, %c0 : tensor<?x?x16xf32>
  %s = tensor.dim %3, %c1 : tensor<?x?x16xf32>
  %4 = tensor.expand_shape %3 [[0], [1], [2, 3]] output_shape [%b, %s, 4, 4] : tensor<?x?x16xf32> into tensor<?x?x4x4xf32>
  %5 = fovea.rope half %4 at(%p : tensor<1x?xi32>) dim(4) theta(10000.0) : tensor<?x?x4x4xf32>
  %6, %7 = fovea.attention %5, %5, %5 : tensor<?x?x4x4xf32>, tensor<?x?x4x4xf32>, tensor<?x?x4x4xf32> -> tensor<?x?x4x4xf32> lse tensor<?x4x?xf32>
  return %6, %7 : tensor<?x?x4x4xf32>, tensor<?x4x?xf32>
}
