// RUN: fovea-opt %s --fovea-to-kernels | FileCheck %s

// Three results in a row need two slots: the third lies where the first was.
// CHECK-LABEL: func.func @slots_are_reused(
// CHECK: %[[ARENA:.*]] = fovea.arena
// CHECK: %[[A:.*]] = memref.view %[[ARENA]][
// CHECK: %[[B:.*]] = memref.view %[[ARENA]][
// CHECK: fovea.launch @activation_1 ins(%[[A]] : memref<?x4xf32>) outs(%[[B]] : memref<?x4xf32>)
// CHECK-NOT: memref.view
// CHECK: fovea.launch @activation_2 ins(%[[B]] : memref<?x4xf32>) outs(%[[A]] : memref<?x4xf32>)
func.func @slots_are_reused(%x: tensor<?x4xf32> {fovea.name = "x"}) -> (tensor<?x4xf32> {fovea.name = "y"}) attributes {fovea.entry} {
  %0 = fovea.group(%a = %x) schedule(#fovea.elements<count = 1024>) : (tensor<?x4xf32>) -> tensor<?x4xf32> {
    %i = fovea.activation relu %a : tensor<?x4xf32>
    fovea.yield %i : tensor<?x4xf32>
  }
  %1 = fovea.group(%a = %0) schedule(#fovea.elements<count = 1024>) : (tensor<?x4xf32>) -> tensor<?x4xf32> {
    %i = fovea.activation silu %a : tensor<?x4xf32>
    fovea.yield %i : tensor<?x4xf32>
  }
  %2 = fovea.group(%a = %1) schedule(#fovea.elements<count = 1024>) : (tensor<?x4xf32>) -> tensor<?x4xf32> {
    %i = fovea.activation tanh %a : tensor<?x4xf32>
    fovea.yield %i : tensor<?x4xf32>
  }
  %3 = fovea.group(%a = %2) schedule(#fovea.elements<count = 1024>) : (tensor<?x4xf32>) -> tensor<?x4xf32> {
    %i = fovea.activation sigmoid %a : tensor<?x4xf32>
    fovea.yield %i : tensor<?x4xf32>
  }
  return %3 : tensor<?x4xf32>
}
