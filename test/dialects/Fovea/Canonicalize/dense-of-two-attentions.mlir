// RUN: fovea-opt %s -canonicalize | FileCheck %s

// One mask of two attentions: each has sizes of its own.
// CHECK-LABEL: @dense_of_two
// CHECK: %[[D:.*]] = fovea.mask_dense
// CHECK: fovea.attention {{.*}} q_pos({{.*}}) mask(%[[D]])
// CHECK: %[[C:.*]] = fovea.mask_causal
// CHECK: fovea.attention {{.*}} mask(%[[C]])
func.func @dense_of_two(%q: tensor<?x3x2x4xf32>, %p: tensor<1x3xi32>) -> (tensor<?x3x2x4xf32>, tensor<?x3x2x4xf32>) {
  %t = arith.constant dense<[[1, 0, 0], [1, 1, 0], [1, 1, 1]]> : tensor<3x3xi8>
  %d = fovea.mask_dense %t : tensor<3x3xi8>
  %o = fovea.attention %q, %q, %q q_pos(%p : tensor<1x3xi32>) mask(%d) : tensor<?x3x2x4xf32>, tensor<?x3x2x4xf32>, tensor<?x3x2x4xf32> -> tensor<?x3x2x4xf32>
  %u = fovea.attention %q, %q, %q mask(%d) : tensor<?x3x2x4xf32>, tensor<?x3x2x4xf32>, tensor<?x3x2x4xf32> -> tensor<?x3x2x4xf32>
  return %o, %u : tensor<?x3x2x4xf32>, tensor<?x3x2x4xf32>
}
