// RUN: fovea-opt %s --fovea-form-groups --canonicalize | FileCheck %s

fovea.weight @w : tensor<6x4xf32> = #fovea.stored<"f", "w", tensor<6x4xf32>>

// Weights, views and sizes stay outside.

// CHECK-LABEL: func.func @linear
// CHECK-SAME: (%[[X:.*]]: tensor<?x?x4xf32>)
// CHECK: %[[W:.*]] = fovea.weight_ref @w
// CHECK: %[[Y:.*]] = fovea.group(%[[A:.*]] = %[[X]], %[[B:.*]] = %[[W]]) : (tensor<?x?x4xf32>, tensor<6x4xf32>) -> tensor<?x?x6xf32> {
// CHECK-NEXT: %[[R:.*]] = fovea.linear %[[A]], %[[B]]
// CHECK-NEXT: fovea.yield %[[R]]
// CHECK: tensor.extract_slice %[[Y]]
// CHECK: tensor.expand_shape
// CHECK-NOT: fovea.group
func.func @linear(%x: tensor<?x?x4xf32>) -> tensor<?x?x1x2xf32> {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %w = fovea.weight_ref @w : tensor<6x4xf32>
  %y = fovea.linear %x, %w : tensor<?x?x4xf32>, tensor<6x4xf32> -> tensor<?x?x6xf32>
  %b = tensor.dim %x, %c0 : tensor<?x?x4xf32>
  %s = tensor.dim %x, %c1 : tensor<?x?x4xf32>
  %v = tensor.extract_slice %y[0, 0, 2] [%b, %s, 2] [1, 1, 1] : tensor<?x?x6xf32> to tensor<?x?x2xf32>
  %e = tensor.expand_shape %v [[0], [1], [2, 3]] output_shape [%b, %s, 1, 2] : tensor<?x?x2xf32> into tensor<?x?x1x2xf32>
  return %e : tensor<?x?x1x2xf32>
}
