// RUN: fovea-opt %s -canonicalize -split-input-file | FileCheck %s

// CHECK-LABEL: @causal_and_strict
// CHECK: %[[W:.*]] = fovea.mask_window right(-1)
// CHECK-NOT: fovea
// CHECK: return %[[W]]
func.func @causal_and_strict() -> !fovea.mask {
  %c = fovea.mask_causal
  %w = fovea.mask_window right(-1)
  %m = fovea.mask_and(%w, %c)
  return %m : !fovea.mask
}

// -----

// CHECK-LABEL: @causal_and_right
// CHECK: %[[C:.*]] = fovea.mask_causal
// CHECK-NOT: fovea
// CHECK: return %[[C]]
func.func @causal_and_right() -> !fovea.mask {
  %c = fovea.mask_causal
  %w = fovea.mask_window right(3)
  %m = fovea.mask_and(%w, %c)
  return %m : !fovea.mask
}

// -----

// A length between the bands stays.
// CHECK-LABEL: @three_bands
// CHECK-DAG: %[[L:.*]] = fovea.mask_length
// CHECK-DAG: %[[W:.*]] = fovea.mask_window left(5) right(-2)
// CHECK: fovea.mask_and(%[[L]], %[[W]])
func.func @three_bands(%n: tensor<?xi32>) -> !fovea.mask {
  %a = fovea.mask_window left(9) right(4)
  %b = fovea.mask_window left(5)
  %c = fovea.mask_window right(-2)
  %l = fovea.mask_length %n : tensor<?xi32>
  %m = fovea.mask_and(%a, %l, %b, %c)
  return %m : !fovea.mask
}
