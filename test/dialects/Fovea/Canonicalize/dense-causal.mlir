// RUN: fovea-opt %s -canonicalize -split-input-file | FileCheck %s

// Constants of the elements of a causal mask, square or not, become it.

// CHECK-LABEL: @dense_triangular
// CHECK: %[[C:.*]] = fovea.mask_causal
// CHECK: fovea.attention {{.*}} mask(%[[C]])
func.func @dense_triangular(%q: tensor<?x3x2x4xf32>) -> tensor<?x3x2x4xf32> {
  %t = arith.constant dense<[[1, 0, 0], [1, 1, 0], [1, 1, 1]]> : tensor<3x3xi8>
  %d = fovea.mask_dense %t : tensor<3x3xi8>
  %o = fovea.attention %q, %q, %q mask(%d) : tensor<?x3x2x4xf32>, tensor<?x3x2x4xf32>, tensor<?x3x2x4xf32> -> tensor<?x3x2x4xf32>
  return %o : tensor<?x3x2x4xf32>
}

// -----

// CHECK-LABEL: @dense_with_unit_axes
// CHECK: %[[C:.*]] = fovea.mask_causal
// CHECK: fovea.attention {{.*}} mask(%[[C]])
func.func @dense_with_unit_axes(%q: tensor<?x3x2x4xf32>) -> tensor<?x3x2x4xf32> {
  %t = arith.constant dense<[[[[true, false, false], [true, true, false], [true, true, true]]]]> : tensor<1x1x3x3xi1>
  %d = fovea.mask_dense %t : tensor<1x1x3x3xi1>
  %o = fovea.attention %q, %q, %q mask(%d) : tensor<?x3x2x4xf32>, tensor<?x3x2x4xf32>, tensor<?x3x2x4xf32> -> tensor<?x3x2x4xf32>
  return %o : tensor<?x3x2x4xf32>
}

// -----

// Any value but zero allows, and a rectangle is as good as a square.
// CHECK-LABEL: @dense_rectangle
// CHECK: %[[C:.*]] = fovea.mask_causal
// CHECK: fovea.attention {{.*}} mask(%[[C]])
func.func @dense_rectangle(%q: tensor<?x2x2x4xf32>, %k: tensor<?x4x2x4xf32>) -> tensor<?x2x2x4xf32> {
  %t = arith.constant dense<[[-1, 0, 0, 0], [2, 3, 0, 0]]> : tensor<2x4xi64>
  %d = fovea.mask_dense %t : tensor<2x4xi64>
  %o = fovea.attention %q, %k, %k mask(%d) : tensor<?x2x2x4xf32>, tensor<?x4x2x4xf32>, tensor<?x4x2x4xf32> -> tensor<?x2x2x4xf32>
  return %o : tensor<?x2x2x4xf32>
}

// -----

// As an exporter writes it for queries that come after two others.
// CHECK-LABEL: @dense_shifted
// CHECK: %[[W:.*]] = fovea.mask_window right(2)
// CHECK: fovea.attention {{.*}} mask(%[[W]])
func.func @dense_shifted(%q: tensor<?x2x2x4xf32>, %k: tensor<?x4x2x4xf32>) -> tensor<?x2x2x4xf32> {
  %t = arith.constant dense<[[1, 1, 1, 0], [1, 1, 1, 1]]> : tensor<2x4xi64>
  %d = fovea.mask_dense %t : tensor<2x4xi64>
  %o = fovea.attention %q, %k, %k mask(%d) : tensor<?x2x2x4xf32>, tensor<?x4x2x4xf32>, tensor<?x4x2x4xf32> -> tensor<?x2x2x4xf32>
  return %o : tensor<?x2x2x4xf32>
}
