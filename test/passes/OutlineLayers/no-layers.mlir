// RUN: fovea-opt %s --fovea-outline-layers | FileCheck %s

// No layers: wired differently (the second adds what its activation gave); one linear each.

// CHECK-NOT: call
// CHECK-LABEL: func.func @wired
func.func @wired(%x: tensor<?x8xf32>, %u: tensor<8x8xf32>) -> tensor<?x8xf32> {
  %0 = fovea.linear %x, %u : tensor<?x8xf32>, tensor<8x8xf32> -> tensor<?x8xf32>
  %1 = fovea.activation relu %0 : tensor<?x8xf32>
  %2 = fovea.linear %1, %u : tensor<?x8xf32>, tensor<8x8xf32> -> tensor<?x8xf32>
  %3 = arith.addf %2, %0 : tensor<?x8xf32>
  %4 = fovea.linear %3, %u : tensor<?x8xf32>, tensor<8x8xf32> -> tensor<?x8xf32>
  %5 = fovea.activation relu %4 : tensor<?x8xf32>
  %6 = fovea.linear %5, %u : tensor<?x8xf32>, tensor<8x8xf32> -> tensor<?x8xf32>
  %7 = arith.addf %6, %5 : tensor<?x8xf32>
  return %7 : tensor<?x8xf32>
}

// CHECK-LABEL: func.func @projections
func.func @projections(%x: tensor<?x8xf32>, %u: tensor<8x8xf32>) -> (tensor<?x8xf32>, tensor<?x8xf32>) {
  %0 = fovea.linear %x, %u : tensor<?x8xf32>, tensor<8x8xf32> -> tensor<?x8xf32>
  %1 = fovea.activation relu %0 : tensor<?x8xf32>
  %2 = fovea.linear %x, %u : tensor<?x8xf32>, tensor<8x8xf32> -> tensor<?x8xf32>
  %3 = fovea.activation relu %2 : tensor<?x8xf32>
  return %1, %3 : tensor<?x8xf32>, tensor<?x8xf32>
}

// CHECK-NOT: call
