// RUN: fovea-interpret %s | FileCheck %s

// CHECK-LABEL: @segment
// CHECK-NEXT: 2x1x2x3 [1, 1, 0, 0, 0, 1, 0, 1, 0, 1, 0, 1]
func.func @segment() -> tensor<2x1x2x3xi1> {
  %q = arith.constant dense<[[7, 8], [8, 7]]> : tensor<2x2xi32>
  %k = arith.constant dense<[[7, 7, 8], [7, 8, 7]]> : tensor<2x3xi32>
  %m = fovea.mask_segment %q, %k : tensor<2x2xi32>, tensor<2x3xi32>
  %t = fovea.mask_materialize %m [] : tensor<2x1x2x3xi1>
  return %t : tensor<2x1x2x3xi1>
}

// Segments count places, not positions.
// CHECK-LABEL: @segment_ignores_positions
// CHECK-NEXT: 1x1x1x2 [0, 1]
func.func @segment_ignores_positions() -> tensor<1x1x1x2xi1> {
  %q = arith.constant dense<4> : tensor<1x1xi32>
  %k = arith.constant dense<[[3, 4]]> : tensor<1x2xi32>
  %far = arith.constant dense<[[100, 200]]> : tensor<1x2xi32>
  %m = fovea.mask_segment %q, %k : tensor<1x1xi32>, tensor<1x2xi32>
  %t = fovea.mask_materialize %m [] k_pos(%far : tensor<1x2xi32>) : tensor<1x1x1x2xi1>
  return %t : tensor<1x1x1x2xi1>
}
