// RUN: fovea-opt %s -canonicalize | FileCheck %s

// CHECK-LABEL: @or_of_bands_stays
// CHECK: fovea.mask_or(
func.func @or_of_bands_stays() -> !fovea.mask {
  %a = fovea.mask_window left(9) right(-5)
  %b = fovea.mask_window left(4) right(4)
  %m = fovea.mask_or(%a, %b)
  return %m : !fovea.mask
}
