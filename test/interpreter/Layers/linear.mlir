// RUN: fovea-interpret %s | FileCheck %s

// CHECK-LABEL: @linear
// CHECK-NEXT: 2x3 [11, 101, 1, 33, 303, 1]
func.func @linear() -> tensor<2x3xf32> {
  %x = arith.constant dense<[[1.0, 10.0], [3.0, 30.0]]> : tensor<2x2xf32>
  %w = arith.constant dense<[[1.0, 1.0], [1.0, 10.0], [0.0, 0.0]]> : tensor<3x2xbf16>
  %b = arith.constant dense<[0.0, 0.0, 1.0]> : tensor<3xf32>
  %y = fovea.linear %x, %w bias(%b : tensor<3xf32>) : tensor<2x2xf32>, tensor<3x2xbf16> -> tensor<2x3xf32>
  return %y : tensor<2x3xf32>
}

// Five products: one past the four that are summed side by side.
// CHECK-LABEL: @linear_of_five
// CHECK-NEXT: 1x1 [12345]
func.func @linear_of_five() -> tensor<1x1xf32> {
  %x = arith.constant dense<[[1.0, 2.0, 3.0, 4.0, 5.0]]> : tensor<1x5xf32>
  %w = arith.constant dense<[[10000.0, 1000.0, 100.0, 10.0, 1.0]]> : tensor<1x5xf32>
  %y = fovea.linear %x, %w : tensor<1x5xf32>, tensor<1x5xf32> -> tensor<1x1xf32>
  return %y : tensor<1x1xf32>
}
