// RUN: fovea-opt --fovea-fold-empty-tensors %s | FileCheck %s

// Of no queries there is nothing to compute.
// CHECK-LABEL: @no_queries
// CHECK-NOT: fovea.attention
// CHECK: tensor.empty() : tensor<1x0x2x8xf32>
func.func @no_queries(%q: tensor<1x0x2x8xf32>, %k: tensor<1x7x2x8xf32>) -> tensor<1x0x2x8xf32> {
  %y = fovea.attention %q, %k, %k : tensor<1x0x2x8xf32>, tensor<1x7x2x8xf32>, tensor<1x7x2x8xf32> -> tensor<1x0x2x8xf32>
  return %y : tensor<1x0x2x8xf32>
}
