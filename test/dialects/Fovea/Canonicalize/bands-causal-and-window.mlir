// RUN: fovea-opt %s -canonicalize | FileCheck %s

// CHECK-LABEL: @causal_and_window
// CHECK: %[[W:.*]] = fovea.mask_window left(7) right(0)
// CHECK-NOT: fovea
// CHECK: return %[[W]]
func.func @causal_and_window() -> !fovea.mask {
  %c = fovea.mask_causal
  %w = fovea.mask_window left(7) right(3)
  %m = fovea.mask_and(%c, %w)
  return %m : !fovea.mask
}
