// RUN: fovea-opt %s -fovea-refine-shapes -split-input-file | FileCheck %s

// A layer, from one cast to another: what was known at its begin is known at its end.
// CHECK-LABEL: @chain
// CHECK-SAME: %[[X:.*]]: tensor<2x3x8xf32>
// CHECK-NOT: tensor.cast
// CHECK: %[[N:.*]] = fovea.rms_norm %[[X]] {{.*}} : tensor<2x3x8xf32>
// CHECK: %[[L:.*]] = fovea.linear %[[N]], {{.*}} -> tensor<2x3x16xf32>
// CHECK: %[[A:.*]] = fovea.activation gelu %[[L]] : tensor<2x3x16xf32>
// CHECK: %[[E:.*]] = tensor.expand_shape %[[A]] {{.*}} into tensor<2x3x4x4xf32>
// CHECK: %[[R:.*]] = fovea.rope half %[[E]] {{.*}} : tensor<2x3x4x4xf32>
// CHECK: %[[O:.*]], %[[LSE:.*]] = fovea.attention %[[R]], {{.*}} -> tensor<2x3x4x4xf32> lse tensor<2x4x3xf32>
// CHECK-DAG: tensor.cast %[[O]] : tensor<2x3x4x4xf32> to tensor<?x?x4x4xf32>
// CHECK-DAG: tensor.cast %[[LSE]] : tensor<2x4x3xf32> to tensor<?x4x?xf32>
// CHECK: return
func.func @chain(%x: tensor<2x3x8xf32>, %w: tensor<16x8xf32>, %p: tensor<1x?xi32>) -> (tensor<?x?x4x4xf32>, tensor<?x4x?xf32>) {
  %0 = tensor.cast %x : tensor<2x3x8xf32> to tensor<?x?x8xf32>
  %1 = fovea.rms_norm %0 eps(1.0e-5) : tensor<?x?x8xf32>
  %2 = fovea.linear %1, %w : tensor<?x?x8xf32>, tensor<16x8xf32> -> tensor<?x?x16xf32>
  %3 = fovea.activation gelu %2 : tensor<?x?x16xf32>
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %b = tensor.dim %3, %c0 : tensor<?x?x16xf32>
  %s = tensor.dim %3, %c1 : tensor<?x?x16xf32>
  %4 = tensor.expand_shape %3 [[0], [1], [2, 3]] output_shape [%b, %s, 4, 4] : tensor<?x?x16xf32> into tensor<?x?x4x4xf32>
  %5 = fovea.rope half %4 at(%p : tensor<1x?xi32>) dim(4) theta(10000.0) : tensor<?x?x4x4xf32>
  %6, %7 = fovea.attention %5, %5, %5 : tensor<?x?x4x4xf32>, tensor<?x?x4x4xf32>, tensor<?x?x4x4xf32> -> tensor<?x?x4x4xf32> lse tensor<?x4x?xf32>
  return %6, %7 : tensor<?x?x4x4xf32>, tensor<?x4x?xf32>
}

// -----

// Nothing is cast: the operand's own type says more than the result's.
// CHECK-LABEL: @static_operand
// CHECK: fovea.embedding {{.*}} -> tensor<2x5x8xf32>
func.func @static_operand(%i: tensor<2x5xi64>, %t: tensor<9x8xf32>) -> tensor<?x?x8xf32> {
  %0 = fovea.embedding %i, %t : tensor<2x5xi64>, tensor<9x8xf32> -> tensor<?x?x8xf32>
  return %0 : tensor<?x?x8xf32>
}

// -----

// All of its types are one type, so the other operand is cast to what the first one is.
// CHECK-LABEL: @same_type
// CHECK-SAME: %[[G:.*]]: tensor<2x?x8xf32>, %[[U:.*]]: tensor<?x5x8xf32>
// CHECK-DAG: %[[G2:.*]] = tensor.cast %[[G]] : tensor<2x?x8xf32> to tensor<2x5x8xf32>
// CHECK-DAG: %[[U2:.*]] = tensor.cast %[[U]] : tensor<?x5x8xf32> to tensor<2x5x8xf32>
// CHECK: fovea.glu silu %[[G2]], %[[U2]] : tensor<2x5x8xf32>
func.func @same_type(%g: tensor<2x?x8xf32>, %u: tensor<?x5x8xf32>) -> tensor<?x?x8xf32> {
  %0 = tensor.cast %g : tensor<2x?x8xf32> to tensor<?x?x8xf32>
  %1 = tensor.cast %u : tensor<?x5x8xf32> to tensor<?x?x8xf32>
  %2 = fovea.glu silu %0, %1 : tensor<?x?x8xf32>
  return %2 : tensor<?x?x8xf32>
}

// -----

// CHECK-LABEL: @constant_sizes
// CHECK: fovea.positions from %{{.*}} : tensor<1x7xi32>
// CHECK: fovea.mask_materialize %{{.*}}[%{{.*}}] : tensor<?x2x3x4xi1>
func.func @constant_sizes(%first: index, %b: index) -> (tensor<1x?xi32>, tensor<?x2x?x?xi1>) {
  %c7 = arith.constant 7 : index
  %c3 = arith.constant 3 : index
  %c4 = arith.constant 4 : index
  %p = fovea.positions from %first count %c7 : tensor<1x?xi32>
  %m = fovea.mask_causal
  %t = fovea.mask_materialize %m [%b, %c3, %c4] : tensor<?x2x?x?xi1>
  return %p, %t : tensor<1x?xi32>, tensor<?x2x?x?xi1>
}

// -----

// CHECK-LABEL: @open_stays
// CHECK-NOT: tensor.cast
// CHECK: fovea.linear {{.*}} -> tensor<?x?x16xf32>
// CHECK-NOT: tensor.dim
func.func @open_stays(%x: tensor<?x?x8xf32>, %w: tensor<16x8xf32>) -> tensor<?x?x16xf32> {
  %0 = fovea.linear %x, %w : tensor<?x?x8xf32>, tensor<16x8xf32> -> tensor<?x?x16xf32>
  return %0 : tensor<?x?x16xf32>
}

// -----

// Key and value that cannot be of one length: wrong when it runs, legal until then.
// CHECK-LABEL: @contradiction_stays
// CHECK: fovea.attention {{.*}} : tensor<?x?x2x4xf32>, tensor<?x?x2x4xf32>, tensor<?x?x2x4xf32>
func.func @contradiction_stays(%q: tensor<?x?x2x4xf32>, %k: tensor<?x5x2x4xf32>, %v: tensor<?x6x2x4xf32>) -> tensor<?x?x2x4xf32> {
  %0 = tensor.cast %k : tensor<?x5x2x4xf32> to tensor<?x?x2x4xf32>
  %1 = tensor.cast %v : tensor<?x6x2x4xf32> to tensor<?x?x2x4xf32>
  %2 = fovea.attention %q, %0, %1 : tensor<?x?x2x4xf32>, tensor<?x?x2x4xf32>, tensor<?x?x2x4xf32> -> tensor<?x?x2x4xf32>
  return %2 : tensor<?x?x2x4xf32>
}

// -----

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
