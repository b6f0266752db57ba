// RUN: fovea-opt %s --fovea-to-kernels | FileCheck %s

// One query: rows are the four heads that share keys, which lie in a cache of bf16. Without a mask only the last step
// looks for the end of the keys.
// CHECK-LABEL: func.func private @attention_0(
// CHECK: tile.kernel grid(%[[B:.*]], %[[G:.*]], %{{.*}}) = (%{{.*}}, %c2, %c1)
// CHECK: %[[HEAD:.*]] = arith.muli %[[G]], %c4
// CHECK: %[[END:.*]] = arith.addi %[[HEAD]], %c4
// CHECK: tile.view %{{.*}} at(%[[B]], %c0) axes(2, 3) length(%[[END]]) : memref<?x1x8x16xf32> -> !tile.view<?x16xf32>
// CHECK: tile.view %{{.*}} at(%[[B]], %[[G]]) axes(2, 3) length(%{{.*}}) : memref<?x2x?x16xbf16> -> !tile.view<?x16xbf16>
// CHECK: scf.for
// CHECK: tile.dot %{{.*}}, %{{.*}} transpose_b block(4, 32) : !tile.tile<4x16xf32>, !tile.tile<32x16xbf16> -> !tile.tile<4x32xf32>
// CHECK-NOT: arith.cmpi
// CHECK: scf.for
// CHECK: arith.cmpi slt
// CHECK: tile.store
func.func @decode(%q: tensor<?x1x8x16xf32> {fovea.name = "q"}, %k: !fovea.cache<key, 2x16xbf16> {fovea.name = "k"}, %v: !fovea.cache<value, 2x16xbf16> {fovea.name = "v"}) -> (tensor<?x1x8x16xf32> {fovea.name = "o"}) attributes {fovea.entry} {
  %0 = fovea.group(%a = %q, %b = %k, %c = %v) schedule(#fovea.attention_tiles<queries = 4, keys = 32, axis = heads, scores = [4, 32], values = [4, 16]>) : (tensor<?x1x8x16xf32>, !fovea.cache<key, 2x16xbf16>, !fovea.cache<value, 2x16xbf16>) -> tensor<?x1x8x16xf32> {
    %o = fovea.attention %a, %b, %c : tensor<?x1x8x16xf32>, !fovea.cache<key, 2x16xbf16>, !fovea.cache<value, 2x16xbf16> -> tensor<?x1x8x16xf32>
    fovea.yield %o : tensor<?x1x8x16xf32>
  }
  return %0 : tensor<?x1x8x16xf32>
}
