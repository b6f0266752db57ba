// RUN: fovea-opt --fovea-fold-empty-tensors %s | FileCheck %s

// Attention over no keys has results: zeros, which its kernel gives.
// CHECK-LABEL: @attention
// CHECK: fovea.attention
func.func @attention(%q: tensor<1x3x2x8xf32>, %k: tensor<1x0x2x8xf32>) -> tensor<1x3x2x8xf32> {
  %y = fovea.attention %q, %k, %k : tensor<1x3x2x8xf32>, tensor<1x0x2x8xf32>, tensor<1x0x2x8xf32> -> tensor<1x3x2x8xf32>
  return %y : tensor<1x3x2x8xf32>
}
