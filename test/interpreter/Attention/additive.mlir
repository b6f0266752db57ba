// RUN: fovea-interpret %s | FileCheck %s

// tanh(0 + 0) = 0, tanh(atanh 1/2) = 1/2; times 2 ln 3: scores 0 and ln 3.
// CHECK-LABEL: @additive
// CHECK-NEXT: 1x1x1x1 [9]
func.func @additive() -> tensor<1x1x1x1xf64> {
  %q = arith.constant dense<0.0> : tensor<1x1x1x1xf64>
  %k = arith.constant dense<[[[[0.0]], [[0.54930614433405485]]]]> : tensor<1x2x1x1xf64>
  %v = arith.constant dense<[[[[0.0]], [[12.0]]]]> : tensor<1x2x1x1xf64>
  %a = arith.constant dense<2.19722457733621938> : tensor<1xf64>
  %o = fovea.attention %q, %k, %v additive(%a : tensor<1xf64>) : tensor<1x1x1x1xf64>, tensor<1x2x1x1xf64>, tensor<1x2x1x1xf64> -> tensor<1x1x1x1xf64>
  return %o : tensor<1x1x1x1xf64>
}
