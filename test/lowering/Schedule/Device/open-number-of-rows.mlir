// RUN: fovea-opt %s --fovea-schedule="target=sm_90a assume-covered" | FileCheck %s
// RUN: fovea-opt %s --fovea-schedule="target=sm_80 assume-covered" | FileCheck %s

// One query, and one row of a product of rank two, have kernels of their own where how many there are is open.

// CHECK-LABEL: @open
// CHECK: #fovea.by_rows<most = 1, few = #fovea.attention_tiles<queries = 16, keys = 64, axis = heads, {{.*}} split = [256, 264]>, many = #fovea.attention_tiles<queries = 64, {{.*}} axis = queries,
// CHECK: #fovea.by_rows<most = 1, few = #fovea.contraction<tile = [1, 16], {{.*}}>, many = #fovea.contraction<tile = [64, 64], {{.*}}>>
func.func @open(%x: tensor<?x?x2x64xf32>, %y: tensor<?x64xf32>, %w: tensor<256x64xf32>) -> (tensor<?x?x2x64xf32>, tensor<?x256xf32>) {
  %0 = fovea.group(%a = %x) : (tensor<?x?x2x64xf32>) -> tensor<?x?x2x64xf32> {
    %1 = fovea.attention %a, %a, %a : tensor<?x?x2x64xf32>, tensor<?x?x2x64xf32>, tensor<?x?x2x64xf32> -> tensor<?x?x2x64xf32>
    fovea.yield %1 : tensor<?x?x2x64xf32>
  }
  %2 = fovea.group(%a = %y, %b = %w) : (tensor<?x64xf32>, tensor<256x64xf32>) -> tensor<?x256xf32> {
    %1 = fovea.linear %a, %b : tensor<?x64xf32>, tensor<256x64xf32> -> tensor<?x256xf32>
    fovea.yield %1 : tensor<?x256xf32>
  }
  return %0, %2 : tensor<?x?x2x64xf32>, tensor<?x256xf32>
}
