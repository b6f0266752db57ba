// RUN: fovea-opt %s --fovea-to-kernels | FileCheck %s

// Attention: 2 * (8 + 8) operations a pair and head. Of 6 queries and 6 keys a causal mask leaves 21 pairs, a window of
// 2 no more than 12 of them. An embedding reads as many rows of its table as it gives.
// CHECK-LABEL: func.func @attention(
// CHECK-DAG: %[[ALL:.*]] = arith.constant 4608 : index
// CHECK-DAG: %[[CAUSAL:.*]] = arith.constant 2688 : index
// CHECK-DAG: %[[WINDOW:.*]] = arith.constant 1536 : index
// CHECK-DAG: %[[ROWS:.*]] = arith.constant 80 : index
// CHECK: fovea.launch @attention_0 {{.*}} cost(%[[ALL]], %
// CHECK: fovea.launch @attention_1 {{.*}} cost(%[[CAUSAL]], %
// CHECK: fovea.launch @attention_2 {{.*}} cost(%[[WINDOW]], %
// CHECK: fovea.launch @embedding_0 {{.*}} cost(%{{.*}}, %[[ROWS]])
// CHECK: fovea.computes = "attention 4/2 x 8"
fovea.weight @t : tensor<1000x4xf32> = #fovea.pack<#fovea.stored<"a", "t", tensor<1000x4xf32>>>
func.func @attention(%q: tensor<1x6x4x8xf32> {fovea.name = "q"}, %k: tensor<1x6x2x8xf32> {fovea.name = "k"}, %ids: tensor<2xi64> {fovea.name = "ids"})
    -> (tensor<1x6x4x8xf32> {fovea.name = "a"}, tensor<1x6x4x8xf32> {fovea.name = "b"}, tensor<1x6x4x8xf32> {fovea.name = "c"}, tensor<2x4xf32> {fovea.name = "d"}) attributes {fovea.entry} {
  %0 = fovea.group(%x = %q, %y = %k) schedule(#fovea.attention_tiles<queries = 16, keys = 32, axis = queries, scores = [4, 16], values = [4, 16]>) : (tensor<1x6x4x8xf32>, tensor<1x6x2x8xf32>) -> tensor<1x6x4x8xf32> {
    %o = fovea.attention %x, %y, %y : tensor<1x6x4x8xf32>, tensor<1x6x2x8xf32>, tensor<1x6x2x8xf32> -> tensor<1x6x4x8xf32>
    fovea.yield %o : tensor<1x6x4x8xf32>
  }
  %1 = fovea.group(%x = %q, %y = %k) schedule(#fovea.attention_tiles<queries = 16, keys = 32, axis = queries, scores = [4, 16], values = [4, 16]>) : (tensor<1x6x4x8xf32>, tensor<1x6x2x8xf32>) -> tensor<1x6x4x8xf32> {
    %m = fovea.mask_causal
    %o = fovea.attention %x, %y, %y mask(%m) : tensor<1x6x4x8xf32>, tensor<1x6x2x8xf32>, tensor<1x6x2x8xf32> -> tensor<1x6x4x8xf32>
    fovea.yield %o : tensor<1x6x4x8xf32>
  }
  %2 = fovea.group(%x = %q, %y = %k) schedule(#fovea.attention_tiles<queries = 16, keys = 32, axis = queries, scores = [4, 16], values = [4, 16]>) : (tensor<1x6x4x8xf32>, tensor<1x6x2x8xf32>) -> tensor<1x6x4x8xf32> {
    %m = fovea.mask_window left(1) right(0)
    %o = fovea.attention %x, %y, %y mask(%m) : tensor<1x6x4x8xf32>, tensor<1x6x2x8xf32>, tensor<1x6x2x8xf32> -> tensor<1x6x4x8xf32>
    fovea.yield %o : tensor<1x6x4x8xf32>
  }
  %t = fovea.weight_ref @t : tensor<1000x4xf32>
  %3 = fovea.group(%x = %ids, %y = %t) schedule(#fovea.rows<rows = 4>) : (tensor<2xi64>, tensor<1000x4xf32>) -> tensor<2x4xf32> {
    %o = fovea.embedding %x, %y : tensor<2xi64>, tensor<1000x4xf32> -> tensor<2x4xf32>
    fovea.yield %o : tensor<2x4xf32>
  }
  return %0, %1, %2, %3 : tensor<1x6x4x8xf32>, tensor<1x6x4x8xf32>, tensor<1x6x4x8xf32>, tensor<2x4xf32>
}
