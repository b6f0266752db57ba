// RUN: fovea-interpret %s | FileCheck %s

// CHECK-LABEL: @dropout
// CHECK-NEXT: 2 [-1, 2]
func.func @dropout() -> tensor<2xf32> {
  %x = arith.constant dense<[-1.0, 2.0]> : tensor<2xf32>
  %y = fovea.dropout %x rate(0.5) : tensor<2xf32>
  return %y : tensor<2xf32>
}
