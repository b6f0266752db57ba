// RUN: fovea-interpret %s | FileCheck %s

// Rows are queries, columns are keys.

// CHECK-LABEL: @causal
// CHECK-NEXT: 1x1x3x3 [1, 0, 0, 1, 1, 0, 1, 1, 1]
func.func @causal() -> tensor<1x1x3x3xi1> {
  %m = fovea.mask_causal
  %t = fovea.mask_materialize %m [] : tensor<1x1x3x3xi1>
  return %t : tensor<1x1x3x3xi1>
}

// Queries at 2 and 3 of a longer text, keys at 1, 2, 3.
// CHECK-LABEL: @causal_at_positions
// CHECK-NEXT: 1x1x2x3 [1, 1, 0, 1, 1, 1]
func.func @causal_at_positions() -> tensor<?x1x?x?xi1> {
  %qp = arith.constant dense<[[2, 3]]> : tensor<1x2xi32>
  %kp = arith.constant dense<[[1, 2, 3]]> : tensor<1x3xi32>
  %b = arith.constant 1 : index
  %i = arith.constant 2 : index
  %j = arith.constant 3 : index
  %m = fovea.mask_causal
  %t = fovea.mask_materialize %m [%b, %i, %j] q_pos(%qp : tensor<1x2xi32>) k_pos(%kp : tensor<1x3xi32>) : tensor<?x1x?x?xi1>
  return %t : tensor<?x1x?x?xi1>
}
