// RUN: fovea-interpret %s | FileCheck %s

// CHECK-LABEL: @alibi
// CHECK-NEXT: 4 [0.25, 0.0625, 0.015625, 0.00390625]
// CHECK-NEXT: 3 [0.0625, 0.00390625, 0.25]
func.func @alibi() -> (tensor<4xf32>, tensor<3xf32>) {
  %0 = fovea.alibi_slopes : tensor<4xf32>
  %1 = fovea.alibi_slopes : tensor<3xf32>
  return %0, %1 : tensor<4xf32>, tensor<3xf32>
}
