// RUN: fovea-opt %s --fovea-raise-linear | FileCheck %s

// The sum starts from a tensor.

// CHECK-LABEL: func.func @start
// CHECK-SAME: (%[[X:.*]]: tensor<4x2xf32>, %[[R:.*]]: tensor<4x3xf32>)
// CHECK: %[[L:.*]] = fovea.linear %[[X]]
// CHECK: %[[Y:.*]] = arith.addf %[[R]], %[[L]]
// CHECK: return %[[Y]]
fovea.weight @w : tensor<2x3xf32> = #fovea.stored<"f", "w", tensor<2x3xf32>>
func.func @start(%x: tensor<4x2xf32>, %r: tensor<4x3xf32>) -> tensor<4x3xf32> {
  %w = fovea.weight_ref @w : tensor<2x3xf32>
  %0 = linalg.matmul ins(%x, %w : tensor<4x2xf32>, tensor<2x3xf32>) outs(%r : tensor<4x3xf32>) -> tensor<4x3xf32>
  return %0 : tensor<4x3xf32>
}
