// RUN: fovea-interpret %s | FileCheck %s

// CHECK-LABEL: @learned
// CHECK-NEXT: 1x2x2 [5, 6, 3, 4]
func.func @learned() -> tensor<1x2x2xf32> {
  %p = arith.constant dense<[[0, -1]]> : tensor<1x2xi32>
  %t = arith.constant dense<[[1.0, 2.0], [3.0, 4.0], [5.0, 6.0]]> : tensor<3x2xbf16>
  %e = fovea.position_learned %p, %t offset(2) : tensor<1x2xi32>, tensor<3x2xbf16> -> tensor<1x2x2xf32>
  return %e : tensor<1x2x2xf32>
}
