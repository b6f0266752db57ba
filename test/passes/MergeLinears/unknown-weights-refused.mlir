// RUN: fovea-opt %s --fovea-merge-linears --remarks-filter=merge-linears --remark-policy=all --remark-format=emitRemark -verify-diagnostics | FileCheck %s

// A call that passes its own argument, a function that nobody calls, and a computed weight.

// CHECK-LABEL: @inner
// CHECK-COUNT-2: fovea.linear
func.func private @inner(%x: tensor<5x2xf32>, %a: tensor<3x2xf32>, %b: tensor<3x2xf32>) -> (tensor<5x3xf32>, tensor<5x3xf32>) {
  // expected-remark @below {{a call passes a weight that it does not refer to}}
  %0 = fovea.linear %x, %a : tensor<5x2xf32>, tensor<3x2xf32> -> tensor<5x3xf32>
  %1 = fovea.linear %x, %b : tensor<5x2xf32>, tensor<3x2xf32> -> tensor<5x3xf32>
  return %0, %1 : tensor<5x3xf32>, tensor<5x3xf32>
}

// CHECK-LABEL: @outer
// CHECK-COUNT-2: fovea.linear
func.func private @outer(%x: tensor<5x2xf32>, %a: tensor<3x2xf32>, %b: tensor<3x2xf32>) -> (tensor<5x3xf32>, tensor<5x3xf32>) {
  %0, %1 = call @inner(%x, %a, %b) : (tensor<5x2xf32>, tensor<3x2xf32>, tensor<3x2xf32>) -> (tensor<5x3xf32>, tensor<5x3xf32>)
  // expected-remark @below {{the function is never called}}
  %2 = fovea.linear %x, %a : tensor<5x2xf32>, tensor<3x2xf32> -> tensor<5x3xf32>
  %3 = fovea.linear %x, %b : tensor<5x2xf32>, tensor<3x2xf32> -> tensor<5x3xf32>
  return %0, %3 : tensor<5x3xf32>, tensor<5x3xf32>
}

// CHECK-LABEL: @computed
// CHECK-COUNT-2: fovea.linear
func.func @computed(%x: tensor<5x2xf32>, %a: tensor<3x2xf32>) -> (tensor<5x3xf32>, tensor<5x3xf32>) {
  %b = arith.negf %a : tensor<3x2xf32>
  %c = arith.negf %b : tensor<3x2xf32>
  // expected-remark @below {{a weight is computed}}
  %0 = fovea.linear %x, %b : tensor<5x2xf32>, tensor<3x2xf32> -> tensor<5x3xf32>
  %1 = fovea.linear %x, %c : tensor<5x2xf32>, tensor<3x2xf32> -> tensor<5x3xf32>
  return %0, %1 : tensor<5x3xf32>, tensor<5x3xf32>
}
