// RUN: fovea-opt %s -fovea-refine-shapes | FileCheck %s

// CHECK-LABEL: @open_stays
// CHECK-NOT: tensor.cast
// CHECK: fovea.linear {{.*}} -> tensor<?x?x16xf32>
// CHECK-NOT: tensor.dim
func.func @open_stays(%x: tensor<?x?x8xf32>, %w: tensor<16x8xf32>) -> tensor<?x?x16xf32> {
  %0 = fovea.linear %x, %w : tensor<?x?x8xf32>, tensor<16x8xf32> -> tensor<?x?x16xf32>
  return %0 : tensor<?x?x16xf32>
}
