// RUN: fovea-opt %s --fovea-merge-linears | FileCheck %s

// Gate and up in an entry, whose weights it refers to itself.

// CHECK: fovea.weight @"g+u" : tensor<14x4xf32> = #fovea.concat<0, #fovea.stored<"f", "g", tensor<8x4xf32>>, #fovea.stored<"f", "u", tensor<6x4xf32>>>
// CHECK-NOT: fovea.weight
fovea.weight @g : tensor<8x4xf32> = #fovea.stored<"f", "g", tensor<8x4xf32>>
fovea.weight @u : tensor<6x4xf32> = #fovea.stored<"f", "u", tensor<6x4xf32>>
// CHECK-LABEL: @references
// CHECK-SAME: (%[[X:.*]]: tensor<?x?x4xf32>)
func.func @references(%x: tensor<?x?x4xf32>) -> (tensor<?x?x8xf32>, tensor<?x?x6xf32>) {
  %g = fovea.weight_ref @g : tensor<8x4xf32>
  %u = fovea.weight_ref @u : tensor<6x4xf32>
  // CHECK: %[[W:.*]] = fovea.weight_ref @"g+u" : tensor<14x4xf32>
  // CHECK: %[[Y:.*]] = fovea.linear %[[X]], %[[W]] : tensor<?x?x4xf32>, tensor<14x4xf32> -> tensor<?x?x14xf32>
  // CHECK: %[[B:.*]] = tensor.dim %[[X]], %{{.*}} : tensor<?x?x4xf32>
  // CHECK: %[[S:.*]] = tensor.dim %[[X]], %{{.*}} : tensor<?x?x4xf32>
  // CHECK: %[[G:.*]] = tensor.extract_slice %[[Y]][0, 0, 0] [%[[B]], %[[S]], 8] [1, 1, 1] : tensor<?x?x14xf32> to tensor<?x?x8xf32>
  // CHECK: %[[U:.*]] = tensor.extract_slice %[[Y]][0, 0, 8] [%[[B]], %[[S]], 6] [1, 1, 1] : tensor<?x?x14xf32> to tensor<?x?x6xf32>
  %0 = fovea.linear %x, %g : tensor<?x?x4xf32>, tensor<8x4xf32> -> tensor<?x?x8xf32>
  %1 = fovea.linear %x, %u : tensor<?x?x4xf32>, tensor<6x4xf32> -> tensor<?x?x6xf32>
  // CHECK: return %[[G]], %[[U]]
  return %0, %1 : tensor<?x?x8xf32>, tensor<?x?x6xf32>
}
