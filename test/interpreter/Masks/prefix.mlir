// RUN: fovea-interpret %s | FileCheck %s

// CHECK-LABEL: @prefix
// CHECK-NEXT: 1x1x3x3 [1, 1, 0, 1, 1, 0, 1, 1, 1]
func.func @prefix() -> tensor<1x1x3x3xi1> {
  %n = arith.constant dense<2> : tensor<1xi32>
  %m = fovea.mask_prefix %n : tensor<1xi32>
  %t = fovea.mask_materialize %m [] : tensor<1x1x3x3xi1>
  return %t : tensor<1x1x3x3xi1>
}
