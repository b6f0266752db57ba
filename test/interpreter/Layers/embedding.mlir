// RUN: fovea-interpret %s | FileCheck %s

// CHECK-LABEL: @embedding
// CHECK-NEXT: 1x3x2 [5, 6, 1, 2, 5, 6]
func.func @embedding() -> tensor<1x3x2xf32> {
  %ids = arith.constant dense<[[2, 0, 2]]> : tensor<1x3xi64>
  %t = arith.constant dense<[[1.0, 2.0], [3.0, 4.0], [5.0, 6.0]]> : tensor<3x2xf16>
  %x = fovea.embedding %ids, %t : tensor<1x3xi64>, tensor<3x2xf16> -> tensor<1x3x2xf32>
  return %x : tensor<1x3x2xf32>
}
