// RUN: fovea-opt %s --fovea-inline-layers | FileCheck %s

// Calls of calls are written out, functions are gone, and so is what computes a result that nobody here reads.
// CHECK-NOT: func.func private
// CHECK-LABEL: func.func @f(
// CHECK-SAME: %[[X:.*]]: tensor<4xf32>
// CHECK-NEXT: %[[A:.*]] = fovea.activation relu %[[X]]
// CHECK-NEXT: %[[B:.*]] = fovea.activation tanh %[[A]]
// CHECK-NEXT: %[[C:.*]] = fovea.activation relu %[[B]]
// CHECK-NEXT: return %[[C]]
func.func private @inner(%x: tensor<4xf32>) -> tensor<4xf32> {
  %0 = fovea.activation relu %x : tensor<4xf32>
  return %0 : tensor<4xf32>
}
func.func private @layer(%x: tensor<4xf32>) -> (tensor<4xf32>, tensor<4xf32>) {
  %0 = call @inner(%x) : (tensor<4xf32>) -> tensor<4xf32>
  %1 = fovea.activation tanh %0 : tensor<4xf32>
  return %0, %1 : tensor<4xf32>, tensor<4xf32>
}
func.func @f(%x: tensor<4xf32> {fovea.name = "x"}) -> (tensor<4xf32> {fovea.name = "y"}) attributes {fovea.entry} {
  %0:2 = call @layer(%x) : (tensor<4xf32>) -> (tensor<4xf32>, tensor<4xf32>)
  %1:2 = call @layer(%0#1) : (tensor<4xf32>) -> (tensor<4xf32>, tensor<4xf32>)
  return %1#0 : tensor<4xf32>
}
