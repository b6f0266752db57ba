// RUN: fovea-opt %s --fovea-outline-layers | FileCheck %s

// Norms first: a layer begins with its norm, else two tensors would go on. Two stacks of different width are two functions.

// CHECK-DAG: func.func private @layer(%{{.*}}: tensor<?x8xf32>, %{{.*}}: tensor<16x8xf32>, %{{.*}}: tensor<8x16xf32>) -> tensor<?x8xf32>
// CHECK-DAG: func.func private @layer_0(%{{.*}}: tensor<?x4xf32>, %{{.*}}: tensor<16x4xf32>, %{{.*}}: tensor<4x16xf32>) -> tensor<?x4xf32>
// CHECK-LABEL: func.func @stacks
// CHECK: call @layer(
// CHECK: call @layer(
// CHECK: %[[L:.*]] = call @layer(
// CHECK: %[[D:.*]] = fovea.linear %[[L]]
// CHECK: %[[Z:.*]] = call @layer_0(%[[D]]
// CHECK: %[[Z2:.*]] = call @layer_0(%[[Z]]
// CHECK: %[[Y:.*]] = fovea.rms_norm %[[Z2]]
// CHECK: return %[[Y]]
func.func @stacks(%x: tensor<?x8xf32>, %u: tensor<16x8xf32>, %d: tensor<8x16xf32>, %down: tensor<4x8xf32>, %p: tensor<16x4xf32>, %q: tensor<4x16xf32>) -> tensor<?x4xf32> {
  %n0 = fovea.rms_norm %x eps(1.0e-5) : tensor<?x8xf32>
  %0 = fovea.linear %n0, %u : tensor<?x8xf32>, tensor<16x8xf32> -> tensor<?x16xf32>
  %1 = fovea.linear %0, %d : tensor<?x16xf32>, tensor<8x16xf32> -> tensor<?x8xf32>
  %x1 = arith.addf %x, %1 : tensor<?x8xf32>
  %n1 = fovea.rms_norm %x1 eps(1.0e-5) : tensor<?x8xf32>
  %2 = fovea.linear %n1, %u : tensor<?x8xf32>, tensor<16x8xf32> -> tensor<?x16xf32>
  %3 = fovea.linear %2, %d : tensor<?x16xf32>, tensor<8x16xf32> -> tensor<?x8xf32>
  %x2 = arith.addf %x1, %3 : tensor<?x8xf32>
  %n2 = fovea.rms_norm %x2 eps(1.0e-5) : tensor<?x8xf32>
  %4 = fovea.linear %n2, %u : tensor<?x8xf32>, tensor<16x8xf32> -> tensor<?x16xf32>
  %5 = fovea.linear %4, %d : tensor<?x16xf32>, tensor<8x16xf32> -> tensor<?x8xf32>
  %x3 = arith.addf %x2, %5 : tensor<?x8xf32>
  %z = fovea.linear %x3, %down : tensor<?x8xf32>, tensor<4x8xf32> -> tensor<?x4xf32>
  %m0 = fovea.rms_norm %z eps(1.0e-5) : tensor<?x4xf32>
  %6 = fovea.linear %m0, %p : tensor<?x4xf32>, tensor<16x4xf32> -> tensor<?x16xf32>
  %7 = fovea.linear %6, %q : tensor<?x16xf32>, tensor<4x16xf32> -> tensor<?x4xf32>
  %z1 = arith.addf %z, %7 : tensor<?x4xf32>
  %m1 = fovea.rms_norm %z1 eps(1.0e-5) : tensor<?x4xf32>
  %8 = fovea.linear %m1, %p : tensor<?x4xf32>, tensor<16x4xf32> -> tensor<?x16xf32>
  %9 = fovea.linear %8, %q : tensor<?x16xf32>, tensor<4x16xf32> -> tensor<?x4xf32>
  %z2 = arith.addf %z1, %9 : tensor<?x4xf32>
  %y = fovea.rms_norm %z2 eps(1.0e-5) : tensor<?x4xf32>
  return %y : tensor<?x4xf32>
}
