// RUN: fovea-interpret %s | FileCheck %s

// [batch, 1, 1, keys] with numbers other than one; [queries, keys] for all heads.
// CHECK-LABEL: @dense
// CHECK-NEXT: 2x2x1x2 [1, 0, 1, 0, 0, 1, 0, 1]
// CHECK-NEXT: 1x2x2x2 [1, 0, 1, 1, 1, 0, 1, 1]
func.func @dense() -> (tensor<2x2x1x2xi1>, tensor<1x2x2x2xi1>) {
  %d = arith.constant dense<[[[[1, 0]]], [[[0, -7]]]]> : tensor<2x1x1x2xi64>
  %m = fovea.mask_dense %d : tensor<2x1x1x2xi64>
  %t = fovea.mask_materialize %m [] : tensor<2x2x1x2xi1>
  %d1 = arith.constant dense<[[true, false], [true, true]]> : tensor<2x2xi1>
  %m1 = fovea.mask_dense %d1 : tensor<2x2xi1>
  %t1 = fovea.mask_materialize %m1 [] : tensor<1x2x2x2xi1>
  return %t, %t1 : tensor<2x2x1x2xi1>, tensor<1x2x2x2xi1>
}
