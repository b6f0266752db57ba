// RUN: fovea-opt %s -fovea-refine-shapes | FileCheck %s

// A table that the score region reads whole keeps the type that the region knows.
// CHECK-LABEL: @whole_score_operand_stays
// CHECK: %[[T:.*]] = tensor.cast
// CHECK: fovea.attention {{.*}} score(%[[T]] : tensor<?x2xf32>
func.func @whole_score_operand_stays(%q: tensor<1x3x2x4xf32>, %t: tensor<32x2xf32>) -> tensor<1x3x2x4xf32> {
  %0 = tensor.cast %t : tensor<32x2xf32> to tensor<?x2xf32>
  %1 = fovea.attention %q, %q, %q score(%0 : tensor<?x2xf32> by (b, h, i, j) -> ()) {
    ^bb0(%x: f32, %w: tensor<?x2xf32>, %b: index, %h: index, %i: i32, %j: i32):
      %e = tensor.extract %w[%b, %h] : tensor<?x2xf32>
      %y = arith.addf %x, %e : f32
      fovea.yield %y : f32
  } : tensor<1x3x2x4xf32>, tensor<1x3x2x4xf32>, tensor<1x3x2x4xf32> -> tensor<1x3x2x4xf32>
  return %1 : tensor<1x3x2x4xf32>
}
