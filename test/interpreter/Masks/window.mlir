// RUN: fovea-interpret %s | FileCheck %s

// CHECK-LABEL: @window
// CHECK-NEXT: 1x1x4x4 [1, 1, 0, 0, 1, 1, 1, 0, 1, 1, 1, 1, 0, 1, 1, 1]
// CHECK-NEXT: 1x1x2x3 [0, 0, 0, 1, 0, 0]
// CHECK-NEXT: 1x1x2x3 [1, 1, 1, 0, 1, 1]
func.func @window() -> (tensor<1x1x4x4xi1>, tensor<1x1x2x3xi1>, tensor<1x1x2x3xi1>) {
  %m = fovea.mask_window left(2) right(1)
  %t = fovea.mask_materialize %m [] : tensor<1x1x4x4xi1>
  %m1 = fovea.mask_window right(-1)
  %t1 = fovea.mask_materialize %m1 [] : tensor<1x1x2x3xi1>
  %m2 = fovea.mask_window left(0)
  %t2 = fovea.mask_materialize %m2 [] : tensor<1x1x2x3xi1>
  return %t, %t1, %t2 : tensor<1x1x4x4xi1>, tensor<1x1x2x3xi1>, tensor<1x1x2x3xi1>
}

// The widest window.
// CHECK-LABEL: @window_without_end
// CHECK-NEXT: 1x1x1x2 [1, 1]
func.func @window_without_end() -> tensor<1x1x1x2xi1> {
  %m = fovea.mask_window left(4294967296) right(4294967296)
  %t = fovea.mask_materialize %m [] : tensor<1x1x1x2xi1>
  return %t : tensor<1x1x1x2xi1>
}
