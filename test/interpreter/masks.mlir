// RUN: fovea-interpret %s | FileCheck %s

// Each mask as a tensor: rows are queries, columns are keys.

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

// CHECK-LABEL: @window
// CHECK-NEXT: 1x1x4x4 [1, 1, 0, 0, 1, 1, 1, 0, 1, 1, 1, 1, 0, 1, 1, 1]
// CHECK-NEXT: 1x1x2x3 [0, 0, 0, 1, 0, 0]
// CHECK-NEXT: 1x1x2x3 [1, 1, 1, 0, 1, 1]
func.func @window() -> (tensor<1x1x4x4xi1>, tensor<1x1x2x3xi1>, tensor<1x1x2x3xi1>) {
  %m = fovea.mask_window left(2) right(1)
  %t = fovea.mask_materialize %m [] : tensor<1x1x4x4xi1>
  %m1 = fovea.mask_window right(-1)
  %t1 = fovea.mask_materialize %m1 [] : tensor<1x1x2x3xi1>
  %m2 = fovea.mask_window left(0)
  %t2 = fovea.mask_materialize %m2 [] : tensor<1x1x2x3xi1>
  return %t, %t1, %t2 : tensor<1x1x4x4xi1>, tensor<1x1x2x3xi1>, tensor<1x1x2x3xi1>
}

// The widest window.
// CHECK-LABEL: @window_without_end
// CHECK-NEXT: 1x1x1x2 [1, 1]
func.func @window_without_end() -> tensor<1x1x1x2xi1> {
  %m = fovea.mask_window left(4294967296) right(4294967296)
  %t = fovea.mask_materialize %m [] : tensor<1x1x1x2xi1>
  return %t : tensor<1x1x1x2xi1>
}

// CHECK-LABEL: @length
// CHECK-NEXT: 2x1x1x3 [1, 0, 0, 1, 1, 0]
// CHECK-NEXT: 2x1x1x3 [1, 1, 0, 1, 1, 0]
func.func @length() -> (tensor<2x1x1x3xi1>, tensor<2x1x1x3xi1>) {
  %n = arith.constant dense<[1, 2]> : tensor<2xi32>
  %m = fovea.mask_length %n : tensor<2xi32>
  %t = fovea.mask_materialize %m [] : tensor<2x1x1x3xi1>
  %shared = arith.constant dense<2> : tensor<1xi32>
  %m1 = fovea.mask_length %shared : tensor<1xi32>
  %t1 = fovea.mask_materialize %m1 [] : tensor<2x1x1x3xi1>
  return %t, %t1 : tensor<2x1x1x3xi1>, tensor<2x1x1x3xi1>
}

// CHECK-LABEL: @prefix
// CHECK-NEXT: 1x1x3x3 [1, 1, 0, 1, 1, 0, 1, 1, 1]
func.func @prefix() -> tensor<1x1x3x3xi1> {
  %n = arith.constant dense<2> : tensor<1xi32>
  %m = fovea.mask_prefix %n : tensor<1xi32>
  %t = fovea.mask_materialize %m [] : tensor<1x1x3x3xi1>
  return %t : tensor<1x1x3x3xi1>
}

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

// CHECK-LABEL: @global
// CHECK-NEXT: 1x1x3x3 [1, 1, 1, 1, 0, 0, 1, 0, 0]
func.func @global() -> tensor<1x1x3x3xi1> {
  %m = fovea.mask_global tokens(1)
  %t = fovea.mask_materialize %m [] : tensor<1x1x3x3xi1>
  return %t : tensor<1x1x3x3xi1>
}

// [batch, 1, 1, keys] with numbers other than one; [queries, keys] for all heads.
// CHECK-LABEL: @dense
// CHECK-NEXT: 2x2x1x2 [1, 0, 1, 0, 0, 1, 0, 1]
// CHECK-NEXT: 1x2x2x2 [1, 0, 1, 1, 1, 0, 1, 1]
func.func @dense() -> (tensor<2x2x1x2xi1>, tensor<1x2x2x2xi1>) {
  %d = arith.constant dense<[[[[1, 0]]], [[[0, -7]]]]> : tensor<2x1x1x2xi64>
  %m = fovea.mask_dense %d : tensor<2x1x1x2xi64>
  %t = fovea.mask_materialize %m [] : tensor<2x2x1x2xi1>
  %d1 = arith.constant dense<[[true, false], [true, true]]> : tensor<2x2xi1>
  %m1 = fovea.mask_dense %d1 : tensor<2x2xi1>
  %t1 = fovea.mask_materialize %m1 [] : tensor<1x2x2x2xi1>
  return %t, %t1 : tensor<2x2x1x2xi1>, tensor<1x2x2x2xi1>
}

// CHECK-LABEL: @algebra
// CHECK-NEXT: 1x1x3x3 [1, 0, 0, 1, 1, 0, 0, 1, 1]
// CHECK-NEXT: 1x1x3x3 [1, 1, 1, 1, 1, 0, 1, 1, 1]
// CHECK-NEXT: 1x1x3x3 [0, 1, 1, 0, 0, 1, 0, 0, 0]
// CHECK-NEXT: 1x1x1x1 [1]
// CHECK-NEXT: 1x1x1x1 [0]
func.func @algebra() -> (tensor<1x1x3x3xi1>, tensor<1x1x3x3xi1>, tensor<1x1x3x3xi1>, tensor<1x1x1x1xi1>, tensor<1x1x1x1xi1>) {
  %c = fovea.mask_causal
  %w = fovea.mask_window left(1)
  %g = fovea.mask_global tokens(1)
  %and = fovea.mask_and(%c, %w)
  %or = fovea.mask_or(%c, %g)
  %not = fovea.mask_not %c
  %all = fovea.mask_and()
  %none = fovea.mask_or()
  %0 = fovea.mask_materialize %and [] : tensor<1x1x3x3xi1>
  %1 = fovea.mask_materialize %or [] : tensor<1x1x3x3xi1>
  %2 = fovea.mask_materialize %not [] : tensor<1x1x3x3xi1>
  %3 = fovea.mask_materialize %all [] : tensor<1x1x1x1xi1>
  %4 = fovea.mask_materialize %none [] : tensor<1x1x1x1xi1>
  return %0, %1, %2, %3, %4 : tensor<1x1x3x3xi1>, tensor<1x1x3x3xi1>, tensor<1x1x3x3xi1>, tensor<1x1x1x1xi1>, tensor<1x1x1x1xi1>
}
