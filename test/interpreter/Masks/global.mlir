// RUN: fovea-interpret %s | FileCheck %s

// CHECK-LABEL: @global
// CHECK-NEXT: 1x1x3x3 [1, 1, 1, 1, 0, 0, 1, 0, 0]
func.func @global() -> tensor<1x1x3x3xi1> {
  %m = fovea.mask_global tokens(1)
  %t = fovea.mask_materialize %m [] : tensor<1x1x3x3xi1>
  return %t : tensor<1x1x3x3xi1>
}
