// RUN: fovea-interpret %s | FileCheck %s

// Probabilities 1/4 and 3/4: the first is below the threshold, the second is multiplied with 2 for key 1, and what is
// asked for as weights are the probabilities themselves.
// CHECK-LABEL: @probability
// CHECK-NEXT: 1x1x1x1 [18]
// CHECK-NEXT: 1x1x1x2 [0.25, 0.75]
func.func @probability() -> (tensor<1x1x1x1xf64>, tensor<1x1x1x2xf64>) {
  %q = arith.constant dense<1.0> : tensor<1x1x1x1xf64>
  %k = arith.constant dense<[[[[0.0]], [[1.09861228866810969]]]]> : tensor<1x2x1x1xf64>
  %v = arith.constant dense<[[[[8.0]], [[12.0]]]]> : tensor<1x2x1x1xf64>
  %gain = arith.constant dense<[4.0, 2.0]> : tensor<2xf64>
  %o, %w = fovea.attention %q, %k, %v probability(%gain : tensor<2xf64> by (b, h, i, j) -> (j)) {
    ^bb0(%p: f64, %g: f64, %b: index, %h: index, %qp: i32, %kp: i32):
      %least = arith.constant 0.3 : f64
      %none = arith.constant 0.0 : f64
      %c = arith.cmpf olt, %p, %least : f64
      %kept = arith.select %c, %none, %p : f64
      %y = arith.mulf %kept, %g : f64
      fovea.yield %y : f64
  } : tensor<1x1x1x1xf64>, tensor<1x2x1x1xf64>, tensor<1x2x1x1xf64> -> tensor<1x1x1x1xf64> weights tensor<1x1x1x2xf64>
  return %o, %w : tensor<1x1x1x1xf64>, tensor<1x1x1x2xf64>
}
