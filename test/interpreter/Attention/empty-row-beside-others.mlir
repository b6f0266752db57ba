// RUN: fovea-interpret %s | FileCheck %s

// One row of the two is empty; the other is not touched by the fill.
// CHECK-LABEL: @rows_are_told_apart
// CHECK-NEXT: 2x1x1x1 [9, nan]
func.func @rows_are_told_apart() -> tensor<2x1x1x1xf64> {
  %q = arith.constant dense<1.0> : tensor<2x1x1x1xf64>
  %k = arith.constant dense<[[[[0.0]], [[1.09861228866810969]]], [[[0.0]], [[1.0]]]]> : tensor<2x2x1x1xf64>
  %v = arith.constant dense<[[[[0.0]], [[12.0]]], [[[0.0]], [[12.0]]]]> : tensor<2x2x1x1xf64>
  %n = arith.constant dense<[2, 0]> : tensor<2xi32>
  %m = fovea.mask_length %n : tensor<2xi32>
  %o = fovea.attention %q, %k, %v mask(%m) fill(nan) : tensor<2x1x1x1xf64>, tensor<2x2x1x1xf64>, tensor<2x2x1x1xf64> -> tensor<2x1x1x1xf64>
  return %o : tensor<2x1x1x1xf64>
}
