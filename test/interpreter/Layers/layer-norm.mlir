// RUN: fovea-interpret %s | FileCheck %s

// Mean 4, variance 9 (not 12), eps 7 makes 16: (-3, 0, 3) / 4 with other numbers.
// CHECK-LABEL: @layer_norm
// CHECK-NEXT: 2x2 [-7.5, 9.5, 7.5, 10.5]
// CHECK-NEXT: 1x2 [-0.75, 0.75]
func.func @layer_norm() -> (tensor<2x2xf32>, tensor<1x2xf32>) {
  %x = arith.constant dense<[[1.0, 7.0], [7.0, 1.0]]> : tensor<2x2xf32>
  %x1 = arith.constant dense<[[1.0, 7.0]]> : tensor<1x2xf32>
  %w = arith.constant dense<[10.0, -0.66666666666666666]> : tensor<2xf64>
  %b = arith.constant dense<[0.0, 10.0]> : tensor<2xf64>
  %y = fovea.layer_norm %x weight(%w : tensor<2xf64>) bias(%b : tensor<2xf64>) eps(7.0) : tensor<2x2xf32>
  %y1 = fovea.layer_norm %x1 eps(7.0) : tensor<1x2xf32>
  return %y, %y1 : tensor<2x2xf32>, tensor<1x2xf32>
}
