// RUN: fovea-opt %s -canonicalize -split-input-file | FileCheck %s

// CHECK-LABEL: @dense_with_key_positions_stays
// CHECK: fovea.mask_dense
func.func @dense_with_key_positions_stays(%q: tensor<?x3x2x4xf32>, %p: tensor<1x3xi32>) -> tensor<?x3x2x4xf32> {
  %t = arith.constant dense<[[1, 0, 0], [1, 1, 0], [1, 1, 1]]> : tensor<3x3xi8>
  %d = fovea.mask_dense %t : tensor<3x3xi8>
  %o = fovea.attention %q, %q, %q k_pos(%p : tensor<1x3xi32>) mask(%d) : tensor<?x3x2x4xf32>, tensor<?x3x2x4xf32>, tensor<?x3x2x4xf32> -> tensor<?x3x2x4xf32>
  return %o : tensor<?x3x2x4xf32>
}

// -----

// CHECK-LABEL: @dense_hole_stays
// CHECK: fovea.mask_dense
func.func @dense_hole_stays(%q: tensor<?x3x2x4xf32>) -> tensor<?x3x2x4xf32> {
  %t = arith.constant dense<[[1, 0, 0], [1, 1, 0], [1, 0, 1]]> : tensor<3x3xi8>
  %d = fovea.mask_dense %t : tensor<3x3xi8>
  %o = fovea.attention %q, %q, %q mask(%d) : tensor<?x3x2x4xf32>, tensor<?x3x2x4xf32>, tensor<?x3x2x4xf32> -> tensor<?x3x2x4xf32>
  return %o : tensor<?x3x2x4xf32>
}

// -----

// Two heads that differ.
// CHECK-LABEL: @dense_heads_stay
// CHECK: fovea.mask_dense
func.func @dense_heads_stay(%q: tensor<?x2x2x4xf32>) -> tensor<?x2x2x4xf32> {
  %t = arith.constant dense<[[[1, 0], [1, 1]], [[1, 1], [1, 1]]]> : tensor<2x2x2xi8>
  %d = fovea.mask_dense %t : tensor<2x2x2xi8>
  %o = fovea.attention %q, %q, %q mask(%d) : tensor<?x2x2x4xf32>, tensor<?x2x2x4xf32>, tensor<?x2x2x4xf32> -> tensor<?x2x2x4xf32>
  return %o : tensor<?x2x2x4xf32>
}

// -----

// CHECK-LABEL: @dense_not_constant_stays
// CHECK: fovea.mask_dense
func.func @dense_not_constant_stays(%q: tensor<?x3x2x4xf32>, %t: tensor<3x3xi8>) -> tensor<?x3x2x4xf32> {
  %d = fovea.mask_dense %t : tensor<3x3xi8>
  %o = fovea.attention %q, %q, %q mask(%d) : tensor<?x3x2x4xf32>, tensor<?x3x2x4xf32>, tensor<?x3x2x4xf32> -> tensor<?x3x2x4xf32>
  return %o : tensor<?x3x2x4xf32>
}
