// RUN: fovea-opt %s -canonicalize -split-input-file | FileCheck %s

// One column of keys, the same for all queries: a length, not a band.
// CHECK-LABEL: @dense_broadcast_queries_stays
// CHECK: fovea.mask_dense
func.func @dense_broadcast_queries_stays(%q: tensor<?x3x2x4xf32>) -> tensor<?x3x2x4xf32> {
  %t = arith.constant dense<[[1, 1, 0]]> : tensor<1x3xi8>
  %d = fovea.mask_dense %t : tensor<1x3xi8>
  %o = fovea.attention %q, %q, %q mask(%d) : tensor<?x3x2x4xf32>, tensor<?x3x2x4xf32>, tensor<?x3x2x4xf32> -> tensor<?x3x2x4xf32>
  return %o : tensor<?x3x2x4xf32>
}

// -----

// CHECK-LABEL: @dense_broadcast_keys_stays
// CHECK: fovea.mask_dense
func.func @dense_broadcast_keys_stays(%q: tensor<?x3x2x4xf32>) -> tensor<?x3x2x4xf32> {
  %t = arith.constant dense<[[1], [1], [0]]> : tensor<3x1xi8>
  %d = fovea.mask_dense %t : tensor<3x1xi8>
  %o = fovea.attention %q, %q, %q mask(%d) : tensor<?x3x2x4xf32>, tensor<?x3x2x4xf32>, tensor<?x3x2x4xf32> -> tensor<?x3x2x4xf32>
  return %o : tensor<?x3x2x4xf32>
}

// -----

// CHECK-LABEL: @dense_vector_stays
// CHECK: fovea.mask_dense
func.func @dense_vector_stays(%q: tensor<?x3x2x4xf32>) -> tensor<?x3x2x4xf32> {
  %t = arith.constant dense<[1, 1, 0]> : tensor<3xi8>
  %d = fovea.mask_dense %t : tensor<3xi8>
  %o = fovea.attention %q, %q, %q mask(%d) : tensor<?x3x2x4xf32>, tensor<?x3x2x4xf32>, tensor<?x3x2x4xf32> -> tensor<?x3x2x4xf32>
  return %o : tensor<?x3x2x4xf32>
}
