// RUN: fovea-interpret %s | FileCheck %s

// CHECK-LABEL: @length
// CHECK-NEXT: 2x1x1x3 [1, 0, 0, 1, 1, 0]
// CHECK-NEXT: 2x1x1x3 [1, 1, 0, 1, 1, 0]
func.func @length() -> (tensor<2x1x1x3xi1>, tensor<2x1x1x3xi1>) {
  %n = arith.constant dense<[1, 2]> : tensor<2xi32>
  %m = fovea.mask_length %n : tensor<2xi32>
  %t = fovea.mask_materialize %m [] : tensor<2x1x1x3xi1>
  %shared = arith.constant dense<2> : tensor<1xi32>
  %m1 = fovea.mask_length %shared : tensor<1xi32>
  %t1 = fovea.mask_materialize %m1 [] : tensor<2x1x1x3xi1>
  return %t, %t1 : tensor<2x1x1x3xi1>, tensor<2x1x1x3xi1>
}
