// RUN: fovea-opt %s --fovea-schedule=target=sse | FileCheck %s
// RUN: fovea-opt %s --fovea-schedule=target=sm_80 | FileCheck %s --check-prefix=GPU
// RUN: fovea-opt %s --fovea-schedule=target=sm_90a | FileCheck %s --check-prefix=GPU

// Row-major stay: a table that no linear reads, a type without panels, a weight that something else reads, an
// unused one, and one that shares a layer function's argument with such a one, directly or not.

// CHECK-LABEL: fovea.weight @table : tensor<5x5xf32> = #fovea.pack<#fovea.stored<"f", "t", tensor<5x5xf32>>>
// CHECK-NOT: panels
// GPU: fovea.weight @table : tensor<5x5xf32> = #fovea.pack<#fovea.stored<"f", "t", tensor<5x5xf32>>>
// GPU-NOT: panels
fovea.weight @table : tensor<5x5xf32> = #fovea.stored<"f", "t", tensor<5x5xf32>>
fovea.weight @double : tensor<5x5xf64> = #fovea.stored<"f", "d", tensor<5x5xf64>>
fovea.weight @sliced : tensor<5x5xf32> = #fovea.stored<"f", "s", tensor<5x5xf32>>
fovea.weight @unused : tensor<5x5xf32> = #fovea.stored<"f", "u", tensor<5x5xf32>>
fovea.weight @shares : tensor<5x5xf32> = #fovea.stored<"f", "c", tensor<5x5xf32>>
fovea.weight @by_hand : tensor<5x5xf32> = #fovea.pack<#fovea.stored<"f", "h", tensor<5x5xf32>>>
fovea.weight @with_hand : tensor<5x5xf32> = #fovea.stored<"f", "w", tensor<5x5xf32>>
func.func private @outer(%x: tensor<?x5xf32>, %w: tensor<5x5xf32>) -> tensor<?x5xf32> {
  %0 = call @inner(%x, %w) : (tensor<?x5xf32>, tensor<5x5xf32>) -> tensor<?x5xf32>
  return %0 : tensor<?x5xf32>
}

func.func private @inner(%x: tensor<?x5xf32>, %w: tensor<5x5xf32>) -> tensor<?x5xf32> {
  %0 = fovea.linear %x, %w : tensor<?x5xf32>, tensor<5x5xf32> -> tensor<?x5xf32>
  return %0 : tensor<?x5xf32>
}

func.func private @other(%x: tensor<?x5xf32>, %w: tensor<5x5xf32>) -> tensor<?x5xf32> {
  %0 = fovea.linear %x, %w : tensor<?x5xf32>, tensor<5x5xf32> -> tensor<?x5xf32>
  return %0 : tensor<?x5xf32>
}

// What a caller gives is row-major.
func.func @given(%x: tensor<?x5xf32>, %w: tensor<5x5xf32>) -> tensor<?x5xf32> attributes {fovea.entry} {
  %0 = fovea.linear %x, %w : tensor<?x5xf32>, tensor<5x5xf32> -> tensor<?x5xf32>
  return %0 : tensor<?x5xf32>
}

func.func @model(%ids: tensor<?xi64>, %x: tensor<?x5xf64>) -> (tensor<?x5xf32>, tensor<?x5xf64>, tensor<2x5xf32>) attributes {fovea.entry} {
  %t = fovea.weight_ref @table : tensor<5x5xf32>
  %d = fovea.weight_ref @double : tensor<5x5xf64>
  %s = fovea.weight_ref @sliced : tensor<5x5xf32>
  %c = fovea.weight_ref @shares : tensor<5x5xf32>
  %h = fovea.weight_ref @by_hand : tensor<5x5xf32>
  %w = fovea.weight_ref @with_hand : tensor<5x5xf32>
  %0 = fovea.embedding %ids, %t : tensor<?xi64>, tensor<5x5xf32> -> tensor<?x5xf32>
  %1 = fovea.linear %x, %d : tensor<?x5xf64>, tensor<5x5xf64> -> tensor<?x5xf64>
  %2 = tensor.extract_slice %s[0, 0] [2, 5] [1, 1] : tensor<5x5xf32> to tensor<2x5xf32>
  %3 = call @outer(%0, %s) : (tensor<?x5xf32>, tensor<5x5xf32>) -> tensor<?x5xf32>
  %4 = call @inner(%3, %c) : (tensor<?x5xf32>, tensor<5x5xf32>) -> tensor<?x5xf32>
  %5 = call @other(%4, %h) : (tensor<?x5xf32>, tensor<5x5xf32>) -> tensor<?x5xf32>
  %6 = call @other(%5, %w) : (tensor<?x5xf32>, tensor<5x5xf32>) -> tensor<?x5xf32>
  return %6, %1, %2 : tensor<?x5xf32>, tensor<?x5xf64>, tensor<2x5xf32>
}
