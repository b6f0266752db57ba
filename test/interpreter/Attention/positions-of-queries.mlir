// RUN: fovea-interpret %s | FileCheck %s

// Two queries; with positions 1 and 0 the second sees one key only.
// CHECK-LABEL: @positions_of_queries
// CHECK-NEXT: 1x2x1x1 [3, 2]
func.func @positions_of_queries() -> tensor<1x2x1x1xf32> {
  %q = arith.constant dense<0.0> : tensor<1x2x1x1xf32>
  %k = arith.constant dense<1.0> : tensor<1x2x1x1xf32>
  %v = arith.constant dense<[[[[2.0]], [[4.0]]]]> : tensor<1x2x1x1xf32>
  %qp = arith.constant dense<[[1, 0]]> : tensor<1x2xi32>
  %m = fovea.mask_causal
  %o = fovea.attention %q, %k, %v q_pos(%qp : tensor<1x2xi32>) mask(%m) : tensor<1x2x1x1xf32>, tensor<1x2x1x1xf32>, tensor<1x2x1x1xf32> -> tensor<1x2x1x1xf32>
  return %o : tensor<1x2x1x1xf32>
}
