// RUN: fovea-opt %s --fovea-merge-linears | FileCheck %s

// What chooses experts is neither rounded nor quantised, and so stays a linear of its own.

// CHECK-LABEL: @router_beside_shared_experts
// CHECK: fovea.linear %{{.*}} : tensor<5x2xf32>, tensor<4x2xf32> -> tensor<5x4xf32>
// CHECK: fovea.linear %{{.*}} : tensor<5x2xf32>, tensor<6x2xf32> -> tensor<5x6xf32>
fovea.weight @router : tensor<4x2xf32> = #fovea.stored<"f", "router", tensor<4x2xf32>>
fovea.weight @gate : tensor<3x2xf32> = #fovea.stored<"f", "gate", tensor<3x2xf32>>
fovea.weight @up : tensor<3x2xf32> = #fovea.stored<"f", "up", tensor<3x2xf32>>
func.func @router_beside_shared_experts(%x: tensor<5x2xf32>) -> (tensor<5x2xi64>, tensor<5x3xf32>) {
  %router = fovea.weight_ref @router : tensor<4x2xf32>
  %gate = fovea.weight_ref @gate : tensor<3x2xf32>
  %up = fovea.weight_ref @up : tensor<3x2xf32>
  %scores = fovea.linear %x, %router : tensor<5x2xf32>, tensor<4x2xf32> -> tensor<5x4xf32>
  %open = fovea.activation sigmoid %scores : tensor<5x4xf32>
  %values, %indices = fovea.top_k %open : tensor<5x4xf32> -> tensor<5x2xf32>, tensor<5x2xi64>
  %0 = fovea.linear %x, %gate : tensor<5x2xf32>, tensor<3x2xf32> -> tensor<5x3xf32>
  %1 = fovea.linear %x, %up : tensor<5x2xf32>, tensor<3x2xf32> -> tensor<5x3xf32>
  %2 = fovea.glu silu %0, %1 : tensor<5x3xf32>
  return %indices, %2 : tensor<5x2xi64>, tensor<5x3xf32>
}
