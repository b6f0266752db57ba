// RUN: fovea-interpret %s | FileCheck %s

// sin 2, cos 2, sin 0.2, cos 0.2.
// CHECK-LABEL: @sinusoidal
// CHECK-NEXT: 1x1x4 [0.909297, -0.416147, 0.198669, 0.980067]
// CHECK-NEXT: 1x1x4 [0.909297, 0.198669, -0.416147, 0.980067]
func.func @sinusoidal() -> (tensor<1x1x4xf32>, tensor<1x1x4xf32>) {
  %p = arith.constant dense<2> : tensor<1x1xi32>
  %0 = fovea.position_sinusoidal interleaved %p theta(100.0) : tensor<1x1xi32> -> tensor<1x1x4xf32>
  %1 = fovea.position_sinusoidal halves %p theta(100.0) : tensor<1x1xi32> -> tensor<1x1x4xf32>
  return %0, %1 : tensor<1x1x4xf32>, tensor<1x1x4xf32>
}
