// RUN: fovea-opt %s -canonicalize | FileCheck %s

// CHECK-LABEL: @contradiction
// CHECK-DAG: %[[ALL:.*]] = fovea.mask_and(){{$}}
// CHECK-DAG: %[[NONE:.*]] = fovea.mask_or(){{$}}
// CHECK: return %[[NONE]], %[[ALL]]
func.func @contradiction(%n: tensor<?xi32>) -> (!fovea.mask, !fovea.mask) {
  %l = fovea.mask_length %n : tensor<?xi32>
  %c = fovea.mask_causal
  %x = fovea.mask_not %l
  %a = fovea.mask_and(%l, %c, %x)
  %o = fovea.mask_or(%x, %c, %l)
  return %a, %o : !fovea.mask, !fovea.mask
}
