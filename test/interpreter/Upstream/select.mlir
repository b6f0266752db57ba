// RUN: fovea-interpret %s | FileCheck %s

// Masks and tensors are chosen whole by one condition, tensors element by element by a tensor.
// CHECK-LABEL: @select
// CHECK-NEXT: 1x1x2x2 [1, 0, 1, 1]
// CHECK-NEXT: 2 [1, 2]
// CHECK-NEXT: 2 [1, 4]
func.func @select() -> (tensor<1x1x2x2xi1>, tensor<2xf32>, tensor<2xf32>) {
  %yes = arith.constant true
  %causal = fovea.mask_causal
  %none = fovea.mask_or()
  %m = arith.select %yes, %causal, %none : !fovea.mask
  %t = fovea.mask_materialize %m [] : tensor<1x1x2x2xi1>
  %a = arith.constant dense<[1.0, 2.0]> : tensor<2xf32>
  %b = arith.constant dense<[3.0, 4.0]> : tensor<2xf32>
  %0 = arith.select %yes, %a, %b : tensor<2xf32>
  %each = arith.constant dense<[true, false]> : tensor<2xi1>
  %1 = arith.select %each, %a, %b : tensor<2xi1>, tensor<2xf32>
  return %t, %0, %1 : tensor<1x1x2x2xi1>, tensor<2xf32>, tensor<2xf32>
}
