// RUN: fovea-interpret %s | FileCheck %s

// A sink of ln 2 beside two keys of score zero: 1/4, 1/4, and 1/2 for nobody.
// CHECK-LABEL: @sinks
// CHECK-NEXT: 1x1x1x1 [3]
// CHECK-NEXT: 1x1x1 [1.38629]
// CHECK-NEXT: 1x1x1x2 [0.25, 0.25]
func.func @sinks() -> (tensor<1x1x1x1xf64>, tensor<1x1x1xf64>, tensor<1x1x1x2xf64>) {
  %q = arith.constant dense<0.0> : tensor<1x1x1x1xf64>
  %k = arith.constant dense<1.0> : tensor<1x2x1x1xf64>
  %v = arith.constant dense<[[[[4.0]], [[8.0]]]]> : tensor<1x2x1x1xf64>
  %s = arith.constant dense<0.69314718055994531> : tensor<1xf64>
  %o, %l, %w = fovea.attention %q, %k, %v sinks(%s : tensor<1xf64>) : tensor<1x1x1x1xf64>, tensor<1x2x1x1xf64>, tensor<1x2x1x1xf64> -> tensor<1x1x1x1xf64> lse tensor<1x1x1xf64> weights tensor<1x1x1x2xf64>
  return %o, %l, %w : tensor<1x1x1x1xf64>, tensor<1x1x1xf64>, tensor<1x1x1x2xf64>
}
