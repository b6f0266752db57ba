// RUN: fovea-interpret %s | FileCheck %s

// The bias is given for (j, h): key 1 gets ln 3 in head 0, key 0 in head 1.
// CHECK-LABEL: @score_operand_map
// CHECK-NEXT: 1x1x2x1 [9, 3]
func.func @score_operand_map() -> tensor<1x1x2x1xf64> {
  %q = arith.constant dense<0.0> : tensor<1x1x2x1xf64>
  %k = arith.constant dense<1.0> : tensor<1x2x1x1xf64>
  %v = arith.constant dense<[[[[0.0]], [[12.0]]]]> : tensor<1x2x1x1xf64>
  %bias = arith.constant dense<[[0.0, 1.09861228866810969], [1.09861228866810969, 0.0]]> : tensor<2x2xf64>
  %o = fovea.attention %q, %k, %v score(%bias : tensor<2x2xf64> by (b, h, i, j) -> (j, h)) {
    ^bb0(%x: f64, %bv: f64, %b: index, %h: index, %qp: i32, %kp: i32):
      %y = arith.addf %x, %bv : f64
      fovea.yield %y : f64
  } : tensor<1x1x2x1xf64>, tensor<1x2x1x1xf64>, tensor<1x2x1x1xf64> -> tensor<1x1x2x1xf64>
  return %o : tensor<1x1x2x1xf64>
}
