// RUN: fovea-opt %s -canonicalize -split-input-file | FileCheck %s

// An `and` of `and` is one, an `or` of `or` likewise; an `and` of `or` stays.

// CHECK-LABEL: @and_of_and
// CHECK-SAME: %[[N:.*]]: tensor<?xi32>
// CHECK-DAG: %[[L:.*]] = fovea.mask_length %[[N]]
// CHECK-DAG: %[[G:.*]] = fovea.mask_global
// CHECK-DAG: %[[S:.*]] = fovea.mask_prefix
// CHECK: fovea.mask_and(%[[L]], %[[G]], %[[S]])
// CHECK-NOT: fovea.mask_and
func.func @and_of_and(%n: tensor<?xi32>) -> !fovea.mask {
  %l = fovea.mask_length %n : tensor<?xi32>
  %g = fovea.mask_global tokens(4)
  %s = fovea.mask_prefix %n : tensor<?xi32>
  %a = fovea.mask_and(%l, %g)
  %b = fovea.mask_and(%a, %s)
  return %b : !fovea.mask
}

// -----

// CHECK-LABEL: @or_of_or
// CHECK-DAG: %[[C:.*]] = fovea.mask_causal
// CHECK-DAG: %[[G:.*]] = fovea.mask_global
// CHECK-DAG: %[[P:.*]] = fovea.mask_prefix
// CHECK: fovea.mask_or(%[[C]], %[[G]], %[[P]])
// CHECK-NOT: fovea.mask_or
func.func @or_of_or(%n: tensor<?xi32>) -> !fovea.mask {
  %c = fovea.mask_causal
  %g = fovea.mask_global tokens(4)
  %p = fovea.mask_prefix %n : tensor<?xi32>
  %i = fovea.mask_or(%g, %p)
  %m = fovea.mask_or(%c, %i)
  return %m : !fovea.mask
}

// -----

// CHECK-LABEL: @and_of_or_stays
// CHECK: %[[O:.*]] = fovea.mask_or(
// CHECK: fovea.mask_and(%{{.*}}, %[[O]])
func.func @and_of_or_stays(%n: tensor<?xi32>) -> !fovea.mask {
  %c = fovea.mask_causal
  %g = fovea.mask_global tokens(4)
  %p = fovea.mask_prefix %n : tensor<?xi32>
  %i = fovea.mask_or(%g, %p)
  %m = fovea.mask_and(%c, %i)
  return %m : !fovea.mask
}
