// RUN: fovea-opt %s --fovea-form-groups --canonicalize --cse > %t.formed
// RUN: fovea-opt %s --fovea-form-groups --fovea-fuse-groups --canonicalize --cse > %t.fused
// RUN: diff %t.formed %t.fused
// RUN: fovea-opt %s --fovea-form-groups --fovea-fuse-groups --canonicalize --cse | FileCheck %s

// An argmax of one row that has no axis of rows; of more columns than f32 counts; in f64; of what is no product.

// CHECK-LABEL: func.func @argmax_vector
// CHECK-COUNT-2: fovea.group
func.func @argmax_vector(%x: tensor<32xf32>, %w: tensor<48x32xf32>) -> tensor<i64> {
  %0 = fovea.linear %x, %w : tensor<32xf32>, tensor<48x32xf32> -> tensor<48xf32>
  %1 = fovea.argmax %0 : tensor<48xf32> -> tensor<i64>
  return %1 : tensor<i64>
}

// CHECK-LABEL: func.func @argmax_wide
// CHECK-COUNT-2: fovea.group
func.func @argmax_wide(%x: tensor<?x2xf32>, %w: tensor<16777217x2xf32>) -> tensor<?xi64> {
  %0 = fovea.linear %x, %w : tensor<?x2xf32>, tensor<16777217x2xf32> -> tensor<?x16777217xf32>
  %1 = fovea.argmax %0 : tensor<?x16777217xf32> -> tensor<?xi64>
  return %1 : tensor<?xi64>
}

// CHECK-LABEL: func.func @argmax_f64
// CHECK-COUNT-2: fovea.group
func.func @argmax_f64(%x: tensor<?x32xf64>, %w: tensor<48x32xf32>) -> tensor<?xi64> {
  %0 = fovea.linear %x, %w : tensor<?x32xf64>, tensor<48x32xf32> -> tensor<?x48xf64>
  %1 = fovea.argmax %0 : tensor<?x48xf64> -> tensor<?xi64>
  return %1 : tensor<?xi64>
}

// CHECK-LABEL: func.func @argmax_norm
// CHECK-COUNT-2: fovea.group
func.func @argmax_norm(%x: tensor<?x32xf32>) -> tensor<?xi64> {
  %0 = fovea.l2_norm %x eps(1.0e-5) : tensor<?x32xf32>
  %1 = fovea.argmax %0 : tensor<?x32xf32> -> tensor<?xi64>
  return %1 : tensor<?xi64>
}
