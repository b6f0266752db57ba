// RUN: fovea-interpret %s | FileCheck %s

// Query heads 0 and 1 read key head 0, heads 2 and 3 head 1; all scores are zero.
// CHECK-LABEL: @grouped_heads
// CHECK-NEXT: 1x1x4x1 [1, 1, 10, 10]
func.func @grouped_heads() -> tensor<1x1x4x1xf32> {
  %q = arith.constant dense<0.0> : tensor<1x1x4x1xf32>
  %k = arith.constant dense<1.0> : tensor<1x2x2x1xf32>
  %v = arith.constant dense<[[[[0.0], [5.0]], [[2.0], [15.0]]]]> : tensor<1x2x2x1xf32>
  %o = fovea.attention %q, %k, %v : tensor<1x1x4x1xf32>, tensor<1x2x2x1xf32>, tensor<1x2x2x1xf32> -> tensor<1x1x4x1xf32>
  return %o : tensor<1x1x4x1xf32>
}
