// RUN: fovea-opt %s --fovea-to-kernels | FileCheck %s

// One kernel serves both calls of the layer; its results go to the arena, the last one to the caller's buffer.
// CHECK-LABEL: func.func @two_layers(
// CHECK-SAME: %[[X:.*]]: memref<?x4xf32>, %[[Y:.*]]: memref<?x4xf32>) -> (index, index)
// CHECK: %[[ARENA:.*]] = fovea.arena
// CHECK: %[[H:.*]] = memref.view %[[ARENA]]
// CHECK: fovea.launch @activation_0 ins(%[[X]] : memref<?x4xf32>) outs(%[[H]] : memref<?x4xf32>)
// CHECK: fovea.launch @activation_0 ins(%[[H]] : memref<?x4xf32>) outs(%[[Y]] : memref<?x4xf32>)
// CHECK-NOT: func.func private @layer
// CHECK: func.func private @activation_0(
// CHECK-NOT: @activation_1
func.func private @layer(%x: tensor<?x4xf32>) -> tensor<?x4xf32> {
  %0 = fovea.group(%a = %x) schedule(#fovea.elements<count = 1024>) : (tensor<?x4xf32>) -> tensor<?x4xf32> {
    %1 = fovea.activation relu %a : tensor<?x4xf32>
    fovea.yield %1 : tensor<?x4xf32>
  }
  return %0 : tensor<?x4xf32>
}

func.func @two_layers(%x: tensor<?x4xf32> {fovea.name = "x"}) -> (tensor<?x4xf32> {fovea.name = "y"}) attributes {fovea.entry} {
  %0 = call @layer(%x) : (tensor<?x4xf32>) -> tensor<?x4xf32>
  %1 = call @layer(%0) : (tensor<?x4xf32>) -> tensor<?x4xf32>
  return %1 : tensor<?x4xf32>
}
