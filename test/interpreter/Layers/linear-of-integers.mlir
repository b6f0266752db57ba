// RUN: fovea-interpret %s | FileCheck %s

// Numbers times the scale of their output, or of their pair.
// CHECK-LABEL: @linear_of_numbers
// CHECK-NEXT: 1x2 [2200, -0.5]
// CHECK-NEXT: 1x2 [2106, 795.5]
func.func @linear_of_numbers() -> (tensor<1x2xf32>, tensor<1x2xf32>) {
  %x = arith.constant dense<[[1.0, 10.0, 100.0, 1000.0]]> : tensor<1x4xf32>
  %w = arith.constant dense<[[100, -10, 1, 1], [-1, 0, 0, 0]]> : tensor<2x4xi8>
  %v = arith.constant dense<[[7, -1, 1, 1], [-8, 0, 0, 1]]> : tensor<2x4xi4>
  %s = arith.constant dense<[2.0, 0.5]> : tensor<2xf32>
  %g = arith.constant dense<[[2.0, 2.0], [0.5, 0.75]]> : tensor<2x2xf16>
  %b = arith.constant dense<[-88.0, 49.5]> : tensor<2xf32>
  %0 = fovea.linear %x, %w scales(%s : tensor<2xf32>) : tensor<1x4xf32>, tensor<2x4xi8> -> tensor<1x2xf32>
  %1 = fovea.linear %x, %v scales(%g : tensor<2x2xf16>) bias(%b : tensor<2xf32>) : tensor<1x4xf32>, tensor<2x4xi4> -> tensor<1x2xf32>
  return %0, %1 : tensor<1x2xf32>, tensor<1x2xf32>
}
