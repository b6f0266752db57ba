// RUN: fovea-opt %s -canonicalize -split-input-file | FileCheck %s

// What says nothing to a combination vanishes, what decides it replaces it.
// CHECK-LABEL: @neutral
// CHECK: %[[L:.*]] = fovea.mask_length
// CHECK-NOT: fovea
// CHECK: return %[[L]], %[[L]]
func.func @neutral(%n: tensor<?xi32>) -> (!fovea.mask, !fovea.mask) {
  %l = fovea.mask_length %n : tensor<?xi32>
  %all = fovea.mask_and()
  %none = fovea.mask_or()
  %a = fovea.mask_and(%all, %l)
  %o = fovea.mask_or(%l, %none)
  return %a, %o : !fovea.mask, !fovea.mask
}

// -----

// CHECK-LABEL: @absorbed
// CHECK-DAG: %[[ALL:.*]] = fovea.mask_and(){{$}}
// CHECK-DAG: %[[NONE:.*]] = fovea.mask_or(){{$}}
// CHECK: return %[[NONE]], %[[ALL]]
func.func @absorbed(%n: tensor<?xi32>) -> (!fovea.mask, !fovea.mask) {
  %l = fovea.mask_length %n : tensor<?xi32>
  %all = fovea.mask_and()
  %none = fovea.mask_or()
  %a = fovea.mask_and(%l, %none)
  %o = fovea.mask_or(%all, %l)
  return %a, %o : !fovea.mask, !fovea.mask
}
