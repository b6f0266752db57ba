// RUN: fovea-opt %s -canonicalize -split-input-file | FileCheck %s

// CHECK-LABEL: @disjoint_windows
// CHECK: %[[NONE:.*]] = fovea.mask_or(){{$}}
// CHECK-NOT: fovea
// CHECK: return %[[NONE]]
func.func @disjoint_windows() -> !fovea.mask {
  %a = fovea.mask_window left(9) right(-5)
  %b = fovea.mask_window left(4) right(4)
  %m = fovea.mask_and(%a, %b)
  return %m : !fovea.mask
}

// -----

// Windows that touch in one diagonal are not disjoint.
// CHECK-LABEL: @touching_windows
// CHECK: fovea.mask_window left(5) right(-5)
func.func @touching_windows() -> !fovea.mask {
  %a = fovea.mask_window left(9) right(-5)
  %b = fovea.mask_window left(5) right(4)
  %m = fovea.mask_and(%a, %b)
  return %m : !fovea.mask
}
