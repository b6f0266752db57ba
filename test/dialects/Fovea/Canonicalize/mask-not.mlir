// RUN: fovea-opt %s -canonicalize -split-input-file | FileCheck %s

// CHECK-LABEL: @not_not
// CHECK: %[[C:.*]] = fovea.mask_causal
// CHECK-NOT: fovea
// CHECK: return %[[C]]
func.func @not_not() -> !fovea.mask {
  %c = fovea.mask_causal
  %a = fovea.mask_not %c
  %b = fovea.mask_not %a
  return %b : !fovea.mask
}

// -----

// CHECK-LABEL: @not_constant
// CHECK-NOT: fovea.mask_not
// CHECK-DAG: %[[ALL:.*]] = fovea.mask_and(){{$}}
// CHECK-DAG: %[[NONE:.*]] = fovea.mask_or(){{$}}
// CHECK: return %[[NONE]], %[[ALL]]
func.func @not_constant() -> (!fovea.mask, !fovea.mask) {
  %all = fovea.mask_and()
  %none = fovea.mask_or()
  %a = fovea.mask_not %all
  %b = fovea.mask_not %none
  return %a, %b : !fovea.mask, !fovea.mask
}
