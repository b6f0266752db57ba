// RUN: fovea-opt %s --fovea-raise-activations | FileCheck %s

// A product of a linear with another's SiLU is a gated linear unit.

// CHECK-LABEL: func.func @gate
// CHECK: %[[G:.*]] = fovea.linear
// CHECK: %[[U:.*]] = fovea.linear
// CHECK: %[[Y:.*]] = fovea.glu silu %[[G]], %[[U]]
// CHECK-NEXT: return %[[Y]]
func.func @gate(%x: tensor<?x8xf32>, %wg: tensor<6x8xf32>, %wu: tensor<6x8xf32>) -> tensor<?x6xf32> {
  %0 = fovea.linear %x, %wg : tensor<?x8xf32>, tensor<6x8xf32> -> tensor<?x6xf32>
  %1 = fovea.linear %x, %wu : tensor<?x8xf32>, tensor<6x8xf32> -> tensor<?x6xf32>
  %2 = fovea.activation sigmoid %0 : tensor<?x6xf32>
  %3 = arith.mulf %0, %2 : tensor<?x6xf32>
  %4 = arith.mulf %1, %3 : tensor<?x6xf32>
  return %4 : tensor<?x6xf32>
}
