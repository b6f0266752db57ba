// RUN: fovea-interpret %s | FileCheck %s

// CHECK-LABEL: @embedding
// CHECK-NEXT: 1x3x2 [5, 6, 1, 2, 5, 6]
func.func @embedding() -> tensor<1x3x2xf32> {
  %ids = arith.constant dense<[[2, 0, 2]]> : tensor<1x3xi64>
  %t = arith.constant dense<[[1.0, 2.0], [3.0, 4.0], [5.0, 6.0]]> : tensor<3x2xf16>
  %x = fovea.embedding %ids, %t : tensor<1x3xi64>, tensor<3x2xf16> -> tensor<1x3x2xf32>
  return %x : tensor<1x3x2xf32>
}

// CHECK-LABEL: @quantized
// CHECK-NEXT: 1x3x2 [-1.25, 1.5, 2, -4, -1.25, 1.5]
func.func @quantized() -> tensor<1x3x2xf32> {
  %ids = arith.constant dense<[[2, 0, 2]]> : tensor<1x3xi64>
  %t = arith.constant dense<[[1, -2], [3, 4], [-5, 6]]> : tensor<3x2xi8>
  %s = arith.constant dense<[2.0, 3.0, 0.25]> : tensor<3xf32>
  %x = fovea.embedding %ids, %t scales(%s : tensor<3xf32>) : tensor<1x3xi64>, tensor<3x2xi8> -> tensor<1x3x2xf32>
  return %x : tensor<1x3x2xf32>
}
