// RUN: fovea-opt %s --fovea-to-kernels | FileCheck %s

// A block is 16 queries of one head, in lanes. Of the keys, two passes go over those in which the causal mask must be
// asked, before and behind the whole steps in which it need not; none goes over what it leaves out.
// CHECK-LABEL: func.func private @attention_0(
// CHECK: tile.kernel grid(%{{.*}}, %{{.*}}, %[[TILE:.*]]) =
// CHECK: %[[FIRST:.*]] = arith.muli %[[TILE]], %c16
// CHECK: tile.load %{{.*}}[%[[FIRST]], %c0] : !tile.view<?x8xf32> -> !tile.tile<16x8xf32>
// CHECK: arith.mulf %{{.*}}, %[[SCALE:.*]] : f32
// CHECK: %[[Q:.*]] = tile.cast %{{.*}} : !tile.tile<16x8xf32> -> !tile.tile<16x8xf32, lanes 0>
// CHECK: scf.for %[[PASS:.*]] = %c0 to %c2 step %c1 iter_args(
// CHECK: scf.for %[[J:.*]] = %{{.*}} to %{{.*}} step %c32 iter_args(%[[M:.*]] = %{{.*}}, %[[L:.*]] = %{{.*}}, %[[O:.*]] = %{{.*}}) ->
// CHECK: %[[K:.*]] = tile.load %{{.*}}[%[[J]], %c0] : !tile.view<?x8xf32> -> !tile.tile<32x8xf32>
// CHECK: %[[S:.*]] = tile.dot %[[Q]], %[[K]] transpose_b block(4, 16) : {{.*}} -> !tile.tile<16x32xf32, lanes 0>
// CHECK: %[[N:.*]] = tile.iota axis(1) from %[[J]] : !tile.tile<16x32xi32, lanes 0>
// CHECK: %[[MASKED:.*]] = tile.map(%{{.*}} = %[[S]], %{{.*}} = %[[N]],
// CHECK: arith.cmpi slt
// CHECK: arith.cmpi sle
// CHECK: %[[HIGH:.*]] = tile.reduce maximum %[[MASKED]] axis(1)
// CHECK: %[[RAISED:.*]] = tile.map(%{{.*}} = %[[M]], %{{.*}} = %[[HIGH]])
// CHECK: %[[P:.*]] = tile.map(%{{.*}} = %[[MASKED]],
// CHECK: math.exp2
// CHECK: %[[KEPT:.*]] = tile.map(%{{.*}} = %[[M]], %{{.*}} = %[[RAISED]])
// CHECK: tile.reduce sum %[[P]] axis(1)
// CHECK: %[[SHRUNK:.*]] = tile.map(%{{.*}} = %[[O]],
// CHECK: %[[V:.*]] = tile.load %{{.*}}[%[[J]], %c0]
// CHECK: tile.dot %[[P]], %[[V]] into %[[SHRUNK]] block(4, 16)
// CHECK: scf.for %[[J:.*]] = %{{.*}} to %{{.*}} step %c32
// CHECK: %[[S:.*]] = tile.dot
// CHECK-NOT: arith.cmpi
// CHECK: tile.reduce maximum %[[S]] axis(1)
// CHECK: arith.divf
// CHECK: tile.cast %{{.*}} : !tile.tile<16x8xf32, lanes 0> -> !tile.tile<16x8xf32>
// CHECK: tile.store %{{.*}}, %{{.*}}[%[[FIRST]], %c0] : !tile.tile<16x8xf32>, !tile.view<?x8xf32>
func.func @causal(%q: tensor<?x?x2x8xf32> {fovea.name = "q"}, %k: tensor<?x?x1x8xf32> {fovea.name = "k"}, %v: tensor<?x?x1x8xf32> {fovea.name = "v"}) -> (tensor<?x?x2x8xf32> {fovea.name = "o"}) attributes {fovea.entry} {
  %0 = fovea.group(%a = %q, %b = %k, %c = %v) schedule(#fovea.attention_tiles<queries = 16, keys = 32, axis = queries, scores = [4, 16], values = [4, 16]>) : (tensor<?x?x2x8xf32>, tensor<?x?x1x8xf32>, tensor<?x?x1x8xf32>) -> tensor<?x?x2x8xf32> {
    %m = fovea.mask_causal
    %o = fovea.attention %a, %b, %c mask(%m) : tensor<?x?x2x8xf32>, tensor<?x?x1x8xf32>, tensor<?x?x1x8xf32> -> tensor<?x?x2x8xf32>
    fovea.yield %o : tensor<?x?x2x8xf32>
  }
  return %0 : tensor<?x?x2x8xf32>
}
