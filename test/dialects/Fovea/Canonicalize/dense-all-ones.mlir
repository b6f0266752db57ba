// RUN: fovea-opt %s -canonicalize -split-input-file | FileCheck %s

// CHECK-LABEL: @dense_all_ones
// CHECK-NOT: mask
// CHECK: return
func.func @dense_all_ones(%q: tensor<?x?x2x4xf32>, %p: tensor<1x?xi32>) -> tensor<?x?x2x4xf32> {
  %t = arith.constant dense<1> : tensor<1x1xi64>
  %d = fovea.mask_dense %t : tensor<1x1xi64>
  %o = fovea.attention %q, %q, %q q_pos(%p : tensor<1x?xi32>) mask(%d) : tensor<?x?x2x4xf32>, tensor<?x?x2x4xf32>, tensor<?x?x2x4xf32> -> tensor<?x?x2x4xf32>
  return %o : tensor<?x?x2x4xf32>
}

// -----

// Elements that all allow, but are not all the same.
// CHECK-LABEL: @dense_all_nonzero
// CHECK-NOT: mask
// CHECK: return
func.func @dense_all_nonzero(%q: tensor<?x2x2x4xf32>) -> tensor<?x2x2x4xf32> {
  %t = arith.constant dense<[[1, 2], [3, 4]]> : tensor<2x2xi64>
  %d = fovea.mask_dense %t : tensor<2x2xi64>
  %o = fovea.attention %q, %q, %q mask(%d) : tensor<?x2x2x4xf32>, tensor<?x2x2x4xf32>, tensor<?x2x2x4xf32> -> tensor<?x2x2x4xf32>
  return %o : tensor<?x2x2x4xf32>
}
