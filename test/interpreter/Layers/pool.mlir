// RUN: fovea-interpret %s | FileCheck %s

// Rows: places 1 and 2 kept; nothing kept.
// CHECK-LABEL: @pool
// CHECK-NEXT: 2x2 [-4, 5, 0, 0]
// CHECK-NEXT: 2x2 [-3, 6, -inf, -inf]
// CHECK-NEXT: 2x2 [-3, 4, 0, 0]
// CHECK-NEXT: 2x2 [-5, 6, 0, 0]
// CHECK-NEXT: 2x2 [-3, 4, 4, 4]
func.func @pool() -> (tensor<2x2xf32>, tensor<2x2xf32>, tensor<2x2xf32>, tensor<2x2xf32>, tensor<2x2xf32>) {
  %x = arith.constant dense<[[[-1.0, 2.0], [-3.0, 4.0], [-5.0, 6.0]], [[1.0, 1.0], [2.0, 2.0], [9.0, 9.0]]]> : tensor<2x3x2xf32>
  %k = arith.constant dense<[[0, 1, 2], [0, 0, 0]]> : tensor<2x3xi64>
  %0 = fovea.pool mean %x keep(%k : tensor<2x3xi64>) : tensor<2x3x2xf32> -> tensor<2x2xf32>
  %1 = fovea.pool max %x keep(%k : tensor<2x3xi64>) : tensor<2x3x2xf32> -> tensor<2x2xf32>
  %2 = fovea.pool first %x keep(%k : tensor<2x3xi64>) : tensor<2x3x2xf32> -> tensor<2x2xf32>
  %3 = fovea.pool last %x keep(%k : tensor<2x3xi64>) : tensor<2x3x2xf32> -> tensor<2x2xf32>
  %4 = fovea.pool mean %x : tensor<2x3x2xf32> -> tensor<2x2xf32>
  return %0, %1, %2, %3, %4 : tensor<2x2xf32>, tensor<2x2xf32>, tensor<2x2xf32>, tensor<2x2xf32>, tensor<2x2xf32>
}
