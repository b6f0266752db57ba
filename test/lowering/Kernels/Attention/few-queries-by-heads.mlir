// RUN: fovea-opt %s --fovea-to-kernels | FileCheck %s

// A few queries of a cache, one by one: rows are the heads that share keys, and each query has blocks of work of its own.
// How many parts its keys have does not depend on how many queries there are.
// CHECK-LABEL: func.func @few(
// CHECK: %[[BATCH:.*]] = memref.dim %{{.*}}, %c0
// CHECK: %[[BLOCKS:.*]] = arith.muli %[[BATCH]], %c2
// CHECK: arith.ceildivui %c64, %{{.*}} : index

// CHECK-LABEL: func.func private @attention_0(
// CHECK: %[[QUERIES:.*]] = memref.dim %{{.*}}, %c1 : memref<?x?x8x16xf32>
// CHECK: tile.kernel grid(%[[B:.*]], %[[G:.*]], %[[Q:.*]], %{{.*}}) = (%{{.*}}, %c2, %[[QUERIES]], %{{.*}})
// CHECK: tile.view %{{.*}} at(%[[B]], %[[Q]]) axes(2, 3) length(%{{.*}}) : memref<?x?x8x16xf32> -> !tile.view<?x16xf32>
func.func @few(%q: tensor<?x?x8x16xf32> {fovea.name = "q"}, %k: !fovea.cache<key, 2x16xf32> {fovea.name = "k"}, %v: !fovea.cache<value, 2x16xf32> {fovea.name = "v"}) -> (tensor<?x?x8x16xf32> {fovea.name = "o"}) attributes {fovea.entry} {
  %0 = fovea.group(%a = %q, %b = %k, %c = %v) schedule(#fovea.by_rows<most = 8, few = #fovea.attention_tiles<queries = 4, keys = 32, axis = heads, scores = [4, 32], values = [4, 16], split = [512, 64]>, many = #fovea.attention_tiles<queries = 16, keys = 32, axis = queries, scores = [4, 16], values = [4, 16]>>) : (tensor<?x?x8x16xf32>, !fovea.cache<key, 2x16xf32>, !fovea.cache<value, 2x16xf32>) -> tensor<?x?x8x16xf32> {
    %o = fovea.attention %a, %b, %c : tensor<?x?x8x16xf32>, !fovea.cache<key, 2x16xf32>, !fovea.cache<value, 2x16xf32> -> tensor<?x?x8x16xf32>
    fovea.yield %o : tensor<?x?x8x16xf32>
  }
  return %0 : tensor<?x?x8x16xf32>
}
