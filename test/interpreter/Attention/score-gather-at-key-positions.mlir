// RUN: fovea-interpret %s | FileCheck %s

// The table is handed over whole and read at the key's position, which is 5 for place 0 and 3 for place 1.
// CHECK-LABEL: @score_gather_and_positions
// CHECK-NEXT: 1x1x1x1 [9]
func.func @score_gather_and_positions() -> tensor<1x1x1x1xf64> {
  %q = arith.constant dense<0.0> : tensor<1x1x1x1xf64>
  %k = arith.constant dense<1.0> : tensor<1x2x1x1xf64>
  %v = arith.constant dense<[[[[0.0]], [[12.0]]]]> : tensor<1x2x1x1xf64>
  %t = arith.constant dense<[7.0, 7.0, 7.0, 1.09861228866810969, 7.0, 0.0]> : tensor<6xf64>
  %kp = arith.constant dense<[[5, 3]]> : tensor<1x2xi32>
  %o = fovea.attention %q, %k, %v k_pos(%kp : tensor<1x2xi32>) score(%t : tensor<6xf64> by (b, h, i, j) -> ()) {
    ^bb0(%x: f64, %tt: tensor<6xf64>, %b: index, %h: index, %qi: i32, %ki: i32):
      %at = arith.index_cast %ki : i32 to index
      %e = tensor.extract %tt[%at] : tensor<6xf64>
      %y = arith.addf %x, %e : f64
      fovea.yield %y : f64
  } : tensor<1x1x1x1xf64>, tensor<1x2x1x1xf64>, tensor<1x2x1x1xf64> -> tensor<1x1x1x1xf64>
  return %o : tensor<1x1x1x1xf64>
}
