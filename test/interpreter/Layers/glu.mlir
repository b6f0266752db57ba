// RUN: fovea-interpret %s | FileCheck %s

// The activation is the gate's.
// CHECK-LABEL: @glu
// CHECK-NEXT: 2 [0, -6]
func.func @glu() -> tensor<2xf32> {
  %g = arith.constant dense<[-1.0, 2.0]> : tensor<2xf32>
  %u = arith.constant dense<[5.0, -3.0]> : tensor<2xf32>
  %y = fovea.glu relu %g, %u : tensor<2xf32>
  return %y : tensor<2xf32>
}
