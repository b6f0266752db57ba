// RUN: fovea-opt %s -canonicalize -split-input-file | FileCheck %s

// CHECK-LABEL: @dense_band
// CHECK: %[[W:.*]] = fovea.mask_window left(1) right(0)
// CHECK: fovea.attention {{.*}} mask(%[[W]])
func.func @dense_band(%q: tensor<?x4x2x4xf32>) -> tensor<?x4x2x4xf32> {
  %t = arith.constant dense<[[1, 0, 0, 0], [1, 1, 0, 0], [0, 1, 1, 0], [0, 0, 1, 1]]> : tensor<4x4xi32>
  %d = fovea.mask_dense %t : tensor<4x4xi32>
  %o = fovea.attention %q, %q, %q mask(%d) : tensor<?x4x2x4xf32>, tensor<?x4x2x4xf32>, tensor<?x4x2x4xf32> -> tensor<?x4x2x4xf32>
  return %o : tensor<?x4x2x4xf32>
}

// -----

// The first row is empty: strictly before.
// CHECK-LABEL: @dense_strict
// CHECK: %[[W:.*]] = fovea.mask_window right(-1)
// CHECK: fovea.attention {{.*}} mask(%[[W]])
func.func @dense_strict(%q: tensor<?x3x2x4xf32>) -> tensor<?x3x2x4xf32> {
  %t = arith.constant dense<[[0, 0, 0], [1, 0, 0], [1, 1, 0]]> : tensor<3x3xi32>
  %d = fovea.mask_dense %t : tensor<3x3xi32>
  %o = fovea.attention %q, %q, %q mask(%d) : tensor<?x3x2x4xf32>, tensor<?x3x2x4xf32>, tensor<?x3x2x4xf32> -> tensor<?x3x2x4xf32>
  return %o : tensor<?x3x2x4xf32>
}

// -----

// CHECK-LABEL: @dense_upper
// CHECK: %[[W:.*]] = fovea.mask_window left(0)
// CHECK: fovea.attention {{.*}} mask(%[[W]])
func.func @dense_upper(%q: tensor<?x3x2x4xf32>) -> tensor<?x3x2x4xf32> {
  %t = arith.constant dense<[[1, 1, 1], [0, 1, 1], [0, 0, 1]]> : tensor<3x3xi32>
  %d = fovea.mask_dense %t : tensor<3x3xi32>
  %o = fovea.attention %q, %q, %q mask(%d) : tensor<?x3x2x4xf32>, tensor<?x3x2x4xf32>, tensor<?x3x2x4xf32> -> tensor<?x3x2x4xf32>
  return %o : tensor<?x3x2x4xf32>
}

// -----

// CHECK-LABEL: @dense_one_corner
// CHECK: %[[W:.*]] = fovea.mask_window left(-2)
// CHECK: fovea.attention {{.*}} mask(%[[W]])
func.func @dense_one_corner(%q: tensor<?x3x2x4xf32>) -> tensor<?x3x2x4xf32> {
  %t = arith.constant dense<[[0, 0, 1], [0, 0, 0], [0, 0, 0]]> : tensor<3x3xi32>
  %d = fovea.mask_dense %t : tensor<3x3xi32>
  %o = fovea.attention %q, %q, %q mask(%d) : tensor<?x3x2x4xf32>, tensor<?x3x2x4xf32>, tensor<?x3x2x4xf32> -> tensor<?x3x2x4xf32>
  return %o : tensor<?x3x2x4xf32>
}
