// RUN: fovea-interpret %s | FileCheck %s

// CHECK-LABEL: @l2_norm
// CHECK-NEXT: 2x2 [0.6, 0.8, 0, 0]
// CHECK-NEXT: 1x2 [0.3, 0.4]
func.func @l2_norm() -> (tensor<2x2xf32>, tensor<1x2xf32>) {
  %x = arith.constant dense<[[3.0, 4.0], [0.0, 0.0]]> : tensor<2x2xf32>
  %y = fovea.l2_norm %x eps(1.0e-12) : tensor<2x2xf32>
  %x1 = arith.constant dense<[[3.0, 4.0]]> : tensor<1x2xf32>
  %y1 = fovea.l2_norm %x1 eps(10.0) : tensor<1x2xf32>
  return %y, %y1 : tensor<2x2xf32>, tensor<1x2xf32>
}
