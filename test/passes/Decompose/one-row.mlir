// RUN: fovea-opt %s --fovea-decompose | FileCheck %s

// A product of one row, without an axis of rows, gets one; its weights stay.
// CHECK-LABEL: func.func @linear(
// CHECK-SAME: %[[X:.*]]: tensor<8xf32>, %[[W:.*]]: tensor<4x8xf32>, %[[B:.*]]: tensor<4xf32>)
// CHECK: %[[ROW:.*]] = tensor.expand_shape %[[X]] {{\[\[}}0, 1]] output_shape [1, 8] : tensor<8xf32> into tensor<1x8xf32>
// CHECK: %[[Y:.*]] = fovea.linear %[[ROW]], %[[W]] bias(%[[B]] : tensor<4xf32>) : tensor<1x8xf32>, tensor<4x8xf32> -> tensor<1x4xf32>
// CHECK: tensor.collapse_shape %[[Y]] {{\[\[}}0, 1]] : tensor<1x4xf32> into tensor<4xf32>
func.func @linear(%x: tensor<8xf32>, %w: tensor<4x8xf32>, %b: tensor<4xf32>) -> tensor<4xf32> {
  %y = fovea.linear %x, %w bias(%b : tensor<4xf32>) : tensor<8xf32>, tensor<4x8xf32> -> tensor<4xf32>
  return %y : tensor<4xf32>
}

// The axis of a softmax moves with the others.
// CHECK-LABEL: func.func @softmax(
// CHECK: linalg.softmax dimension(1) {{.*}} -> tensor<1x8xf32>
func.func @softmax(%x: tensor<8xf32>) -> tensor<8xf32> {
  %y = linalg.softmax dimension(0) ins(%x : tensor<8xf32>) outs(%x : tensor<8xf32>) -> tensor<8xf32>
  return %y : tensor<8xf32>
}

// An activation of a scalar.
// CHECK-LABEL: func.func @scalar(
// CHECK: fovea.activation silu %{{.*}} : tensor<1xf32>
func.func @scalar(%x: tensor<f32>) -> tensor<f32> {
  %y = fovea.activation silu %x : tensor<f32>
  return %y : tensor<f32>
}
