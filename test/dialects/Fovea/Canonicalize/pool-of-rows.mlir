// RUN: fovea-opt %s -canonicalize -split-input-file | FileCheck %s

// The last row is taken before what makes rows of rows, so that only it is made.
// CHECK-LABEL: @last
// CHECK-SAME: %[[X:[a-z0-9]*]]: tensor<?x?x8xf32>, %[[W:[a-z0-9]*]]: tensor<16x8xf32>
// CHECK: %[[ROW:.*]] = fovea.pool last %[[X]] : tensor<?x?x8xf32> -> tensor<?x8xf32>
// CHECK: %[[NORM:.*]] = fovea.rms_norm %[[ROW]] eps(1.000000e-05) : tensor<?x8xf32>
// CHECK: fovea.linear %[[NORM]], %[[W]] : tensor<?x8xf32>, tensor<16x8xf32> -> tensor<?x16xf32>
func.func @last(%x: tensor<?x?x8xf32>, %w: tensor<16x8xf32>) -> tensor<?x16xf32> {
  %n = fovea.rms_norm %x eps(1.0e-5) : tensor<?x?x8xf32>
  %y = fovea.linear %n, %w : tensor<?x?x8xf32>, tensor<16x8xf32> -> tensor<?x?x16xf32>
  %p = fovea.pool last %y : tensor<?x?x16xf32> -> tensor<?x16xf32>
  return %p : tensor<?x16xf32>
}

// -----

// Of no rows pooling gives zeros, which the bias would change. A mean is of all rows; and what others read is made for them.
// CHECK-LABEL: @left_alone
// CHECK-COUNT-3: fovea.linear {{.*}} -> tensor<?x?x16xf32>
func.func @left_alone(%x: tensor<?x?x8xf32>, %w: tensor<16x8xf32>, %b: tensor<16xf32>) -> (tensor<?x16xf32>, tensor<?x16xf32>, tensor<?x16xf32>, tensor<?x?x16xf32>) {
  %biased = fovea.linear %x, %w bias(%b : tensor<16xf32>) : tensor<?x?x8xf32>, tensor<16x8xf32> -> tensor<?x?x16xf32>
  %p = fovea.pool last %biased : tensor<?x?x16xf32> -> tensor<?x16xf32>
  %y = fovea.linear %x, %w : tensor<?x?x8xf32>, tensor<16x8xf32> -> tensor<?x?x16xf32>
  %q = fovea.pool mean %y : tensor<?x?x16xf32> -> tensor<?x16xf32>
  %z = fovea.linear %x, %w : tensor<?x?x8xf32>, tensor<16x8xf32> -> tensor<?x?x16xf32>
  %r = fovea.pool last %z : tensor<?x?x16xf32> -> tensor<?x16xf32>
  return %p, %q, %r, %z : tensor<?x16xf32>, tensor<?x16xf32>, tensor<?x16xf32>, tensor<?x?x16xf32>
}

// -----

// CHECK-LABEL: @only_one
// CHECK: tensor.collapse_shape %{{.*}} {{\[}}[0, 1], [2]] : tensor<?x1x8xf32> into tensor<?x8xf32>
// CHECK-NOT: fovea.pool
func.func @only_one(%x: tensor<?x1x8xf32>) -> tensor<?x8xf32> {
  %p = fovea.pool last %x : tensor<?x1x8xf32> -> tensor<?x8xf32>
  return %p : tensor<?x8xf32>
}
