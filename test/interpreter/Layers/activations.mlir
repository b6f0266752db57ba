// RUN: fovea-interpret %s | FileCheck %s

// At -1 and 2, by a calculator.
// CHECK-LABEL: @activations
// CHECK-NEXT: 2 [-0.158655, 1.9545]
// CHECK-NEXT: 2 [-0.158808, 1.9546]
// CHECK-NEXT: 2 [-0.154204, 1.93566]
// CHECK-NEXT: 2 [0, 2]
// CHECK-NEXT: 2 [-0.268941, 1.76159]
// CHECK-NEXT: 2 [-0.761594, 0.964028]
// CHECK-NEXT: 2 [0.268941, 0.880797]
// CHECK-NEXT: 2 [0, 4]
func.func @activations() -> (tensor<2xf32>, tensor<2xf32>, tensor<2xf32>, tensor<2xf32>, tensor<2xf32>, tensor<2xf32>, tensor<2xf32>, tensor<2xf32>) {
  %x = arith.constant dense<[-1.0, 2.0]> : tensor<2xf32>
  %0 = fovea.activation gelu %x : tensor<2xf32>
  %1 = fovea.activation gelu_tanh %x : tensor<2xf32>
  %2 = fovea.activation gelu_quick %x : tensor<2xf32>
  %3 = fovea.activation relu %x : tensor<2xf32>
  %4 = fovea.activation silu %x : tensor<2xf32>
  %5 = fovea.activation tanh %x : tensor<2xf32>
  %6 = fovea.activation sigmoid %x : tensor<2xf32>
  %7 = fovea.activation relu_squared %x : tensor<2xf32>
  return %0, %1, %2, %3, %4, %5, %6, %7 : tensor<2xf32>, tensor<2xf32>, tensor<2xf32>, tensor<2xf32>, tensor<2xf32>, tensor<2xf32>, tensor<2xf32>, tensor<2xf32>
}
