// RUN: fovea-opt %s --fovea-to-kernels | FileCheck %s

// A tile of scores is summed up over the columns of heads; the weighted values are a product as ever.
// CHECK-LABEL: func.func private @attention_0(
// CHECK: tile.kernel
// CHECK: scf.for
// CHECK: %[[SUMS:.*]] = scf.for %[[D:[a-z0-9]+]] = %{{.*}} to %c8{{[^ ]*}} step %c1
// CHECK: tile.load %{{.*}}[%{{.*}}, %[[D]]] : !tile.view<?x8xf32> -> !tile.tile<16x1xf32, lanes 0>
// CHECK: math.tanh
// CHECK: tile.dot
func.func @sums(%q: tensor<?x?x2x8xf32> {fovea.name = "q"}, %w: tensor<8xf32> {fovea.name = "w"}) -> (tensor<?x?x2x8xf32> {fovea.name = "o"}) attributes {fovea.entry} {
  %0 = fovea.group(%a = %q, %b = %w) schedule(#fovea.attention_tiles<queries = 16, keys = 32, axis = queries, scores = [4, 16], values = [4, 16]>) : (tensor<?x?x2x8xf32>, tensor<8xf32>) -> tensor<?x?x2x8xf32> {
    %o = fovea.attention %a, %a, %a additive(%b : tensor<8xf32>) : tensor<?x?x2x8xf32>, tensor<?x?x2x8xf32>, tensor<?x?x2x8xf32> -> tensor<?x?x2x8xf32>
    fovea.yield %o : tensor<?x?x2x8xf32>
  }
  return %0 : tensor<?x?x2x8xf32>
}
