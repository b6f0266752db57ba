// RUN: fovea-interpret %s | FileCheck %s

// CHECK-LABEL: @positions
// CHECK-NEXT: 1x3 [5, 6, 7]
// CHECK-NEXT: 1x2 [5, 6]
func.func @positions() -> (tensor<1x?xi32>, tensor<1x2xi32>) {
  %first = arith.constant 5 : index
  %n = arith.constant 3 : index
  %0 = fovea.positions from %first count %n : tensor<1x?xi32>
  %1 = fovea.positions from %first : tensor<1x2xi32>
  return %0, %1 : tensor<1x?xi32>, tensor<1x2xi32>
}
