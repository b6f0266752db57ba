// RUN: fovea-interpret %s | FileCheck %s

// Half of each: a forbidden key has no weight though the region gives one for a probability of zero, but the mean of an
// empty row is of all keys.
// CHECK-LABEL: @probability_of_mask
// CHECK-NEXT: 1x2x1x1 [4.5, 9]
func.func @probability_of_mask() -> tensor<1x2x1x1xf64> {
  %q = arith.constant dense<0.0> : tensor<1x2x1x1xf64>
  %k = arith.constant dense<0.0> : tensor<1x2x1x1xf64>
  %v = arith.constant dense<[[[[3.0]], [[6.0]]]]> : tensor<1x2x1x1xf64>
  %keep = arith.constant dense<[[[[true, false], [false, false]]]]> : tensor<1x1x2x2xi1>
  %m = fovea.mask_dense %keep : tensor<1x1x2x2xi1>
  %o = fovea.attention %q, %k, %v mask(%m) fill(mean) probability {
    ^bb0(%p: f64, %b: index, %h: index, %qp: i32, %kp: i32):
      %half = arith.constant 0.5 : f64
      %y = arith.addf %p, %half : f64
      fovea.yield %y : f64
  } : tensor<1x2x1x1xf64>, tensor<1x2x1x1xf64>, tensor<1x2x1x1xf64> -> tensor<1x2x1x1xf64>
  return %o : tensor<1x2x1x1xf64>
}
