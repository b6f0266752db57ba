// RUN: fovea-opt %s --fovea-outline-layers | FileCheck %s

// A body that reads the layer's own tensor.

// CHECK-LABEL: func.func private @layer
// CHECK: %[[L:.*]] = fovea.linear
// CHECK: tensor.extract %[[L]]
// CHECK-LABEL: func.func @gathers
// CHECK: %[[Y:.*]] = call @layer(
// CHECK-NEXT: %[[Z:.*]] = call @layer(%[[Y]],
// CHECK-NEXT: return %[[Z]]
func.func @gathers(%x: tensor<4x8xf32>, %u: tensor<8x8xf32>, %v: tensor<8x8xf32>) -> tensor<4x8xf32> {
  %c1 = arith.constant 1 : index
  %e = tensor.empty() : tensor<4x8xf32>
  %0 = fovea.linear %x, %u : tensor<4x8xf32>, tensor<8x8xf32> -> tensor<4x8xf32>
  %1 = linalg.generic {indexing_maps = [affine_map<(i, j) -> (i, j)>], iterator_types = ["parallel", "parallel"]} outs(%e : tensor<4x8xf32>) {
  ^bb0(%out: f32):
    %j = linalg.index 1 : index
    %a = tensor.extract %0[%c1, %j] : tensor<4x8xf32>
    linalg.yield %a : f32
  } -> tensor<4x8xf32>
  %2 = fovea.linear %1, %v : tensor<4x8xf32>, tensor<8x8xf32> -> tensor<4x8xf32>
  %3 = fovea.linear %2, %u : tensor<4x8xf32>, tensor<8x8xf32> -> tensor<4x8xf32>
  %4 = linalg.generic {indexing_maps = [affine_map<(i, j) -> (i, j)>], iterator_types = ["parallel", "parallel"]} outs(%e : tensor<4x8xf32>) {
  ^bb0(%out: f32):
    %j = linalg.index 1 : index
    %a = tensor.extract %3[%c1, %j] : tensor<4x8xf32>
    linalg.yield %a : f32
  } -> tensor<4x8xf32>
  %5 = fovea.linear %4, %v : tensor<4x8xf32>, tensor<8x8xf32> -> tensor<4x8xf32>
  return %5 : tensor<4x8xf32>
}
