// RUN: fovea-opt %s -canonicalize | FileCheck %s

// CHECK-LABEL: @duplicates
// CHECK: %[[L:.*]] = fovea.mask_length
// CHECK: %[[G:.*]] = fovea.mask_global
// CHECK: fovea.mask_or(%[[L]], %[[G]])
func.func @duplicates(%n: tensor<?xi32>) -> !fovea.mask {
  %l = fovea.mask_length %n : tensor<?xi32>
  %g = fovea.mask_global tokens(4)
  %m = fovea.mask_or(%l, %g, %l)
  return %m : !fovea.mask
}
