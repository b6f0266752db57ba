// RUN: fovea-interpret %s | FileCheck %s

// Scores 0 and ln 3: probabilities 1/4 and 3/4.
// CHECK-LABEL: @plain
// CHECK-NEXT: 1x1x1x2 [9, 6]
func.func @plain() -> tensor<1x1x1x2xf64> {
  %q = arith.constant dense<1.0> : tensor<1x1x1x1xf64>
  %k = arith.constant dense<[[[[0.0]], [[1.09861228866810969]]]]> : tensor<1x2x1x1xf64>
  %v = arith.constant dense<[[[[0.0, 0.0]], [[12.0, 8.0]]]]> : tensor<1x2x1x2xf64>
  %o = fovea.attention %q, %k, %v : tensor<1x1x1x1xf64>, tensor<1x2x1x1xf64>, tensor<1x2x1x2xf64> -> tensor<1x1x1x2xf64>
  return %o : tensor<1x1x1x2xf64>
}

// Half of twice the score is the same.
// CHECK-LABEL: @scaled
// CHECK-NEXT: 1x1x1x2 [9, 6]
func.func @scaled() -> tensor<1x1x1x2xf64> {
  %q = arith.constant dense<2.0> : tensor<1x1x1x1xf64>
  %k = arith.constant dense<[[[[0.0]], [[1.09861228866810969]]]]> : tensor<1x2x1x1xf64>
  %v = arith.constant dense<[[[[0.0, 0.0]], [[12.0, 8.0]]]]> : tensor<1x2x1x2xf64>
  %o = fovea.attention %q, %k, %v scale(0.5) : tensor<1x1x1x1xf64>, tensor<1x2x1x1xf64>, tensor<1x2x1x2xf64> -> tensor<1x1x1x2xf64>
  return %o : tensor<1x1x1x2xf64>
}
