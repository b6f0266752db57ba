// RUN: fovea-opt %s -canonicalize | FileCheck %s

// CHECK-LABEL: @dense_inside_and
// CHECK: %[[W:.*]] = fovea.mask_window left(1) right(0)
// CHECK: fovea.attention {{.*}} mask(%[[W]])
func.func @dense_inside_and(%q: tensor<?x3x2x4xf32>) -> tensor<?x3x2x4xf32> {
  %t = arith.constant dense<[[1, 0, 0], [1, 1, 0], [1, 1, 1]]> : tensor<3x3xi8>
  %d = fovea.mask_dense %t : tensor<3x3xi8>
  %w = fovea.mask_window left(1) right(2)
  %m = fovea.mask_and(%d, %w)
  %o = fovea.attention %q, %q, %q mask(%m) : tensor<?x3x2x4xf32>, tensor<?x3x2x4xf32>, tensor<?x3x2x4xf32> -> tensor<?x3x2x4xf32>
  return %o : tensor<?x3x2x4xf32>
}
