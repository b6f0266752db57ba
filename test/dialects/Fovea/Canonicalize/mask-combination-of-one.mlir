// RUN: fovea-opt %s -canonicalize | FileCheck %s

// CHECK-LABEL: @single
// CHECK: %[[L:.*]] = fovea.mask_length
// CHECK-NOT: fovea
// CHECK: return %[[L]], %[[L]], %[[L]]
func.func @single(%n: tensor<?xi32>) -> (!fovea.mask, !fovea.mask, !fovea.mask) {
  %l = fovea.mask_length %n : tensor<?xi32>
  %a = fovea.mask_and(%l)
  %o = fovea.mask_or(%l)
  %twice = fovea.mask_and(%l, %l)
  return %a, %o, %twice : !fovea.mask, !fovea.mask, !fovea.mask
}
