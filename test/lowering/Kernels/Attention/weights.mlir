// RUN: fovea-opt %s --fovea-to-kernels | FileCheck %s

// After the walk that finds maximum and sum, another over all keys stores the probabilities.
// CHECK-LABEL: func.func private @attention_0(
// CHECK: scf.for {{.*}} iter_args
// CHECK: scf.for {{.*}} iter_args
// CHECK: scf.for %[[BEGIN:[a-z0-9]+]] = %c0{{[^ ]*}} to %{{.*}} step %c32{{[^ ]*}} {
// CHECK: tile.dot {{.*}} transpose_b
// CHECK: math.exp2
// CHECK: %[[MAPS:.*]] = tile.view %{{.*}} axes(2, 3) : memref<?x2x?x?xf32>
// CHECK: tile.store %{{.*}}, %[[MAPS]][%{{.*}}, %[[BEGIN]]] : !tile.tile<16x32xf32>, !tile.view<?x?xf32>
func.func @maps(%q: tensor<?x?x2x8xf32> {fovea.name = "q"}) -> (tensor<?x?x2x8xf32> {fovea.name = "o"}, tensor<?x2x?x?xf32> {fovea.name = "p"}) attributes {fovea.entry} {
  %0:2 = fovea.group(%a = %q) schedule(#fovea.attention_tiles<queries = 16, keys = 32, axis = queries, scores = [4, 16], values = [4, 16]>) : (tensor<?x?x2x8xf32>) -> (tensor<?x?x2x8xf32>, tensor<?x2x?x?xf32>) {
    %o, %p = fovea.attention %a, %a, %a : tensor<?x?x2x8xf32>, tensor<?x?x2x8xf32>, tensor<?x?x2x8xf32> -> tensor<?x?x2x8xf32> weights tensor<?x2x?x?xf32>
    fovea.yield %o, %p : tensor<?x?x2x8xf32>, tensor<?x2x?x?xf32>
  }
  return %0#0, %0#1 : tensor<?x?x2x8xf32>, tensor<?x2x?x?xf32>
}
