// RUN: fovea-opt %s --fovea-to-kernels | FileCheck %s

// Few queries, split keys: how many parts there are (each of 64 keys at least, 8 blocks of work in all) is computed
// from sizes, by the plan, and is a size of the temporaries; no parts if there would be one. The launch that walks keys
// has the cost.
// CHECK-LABEL: func.func @split(
// CHECK-DAG: %[[WANTED:.*]] = arith.ceildivui %c8, %{{.*}} : index
// CHECK-DAG: %[[FIT:.*]] = arith.divsi %[[LENGTH:.*]], %c64 : index
// CHECK: %[[PARTS:.*]] = arith.minsi %[[WANTED]], %[[FIT]]
// CHECK: %[[SEVERAL:.*]] = arith.cmpi sgt, %[[PARTS]], %c1
// CHECK: %[[COUNT:.*]] = arith.select %[[SEVERAL]], %[[PARTS]], %c0
// CHECK: %[[M:.*]] = memref.view %{{.*}}[%{{.*}}][%{{.*}}, %[[COUNT]]] : memref<?xi8> to memref<?x?x8x1xf32>
// CHECK: %[[L:.*]] = memref.view %{{.*}}[%{{.*}}][%{{.*}}, %[[COUNT]]] : memref<?xi8> to memref<?x?x8x1xf32>
// CHECK: %[[O:.*]] = memref.view %{{.*}}[%{{.*}}][%{{.*}}, %[[COUNT]]] : memref<?xi8> to memref<?x?x1x8x16xf32>
// CHECK: fovea.launch @attention_0 ins(%{{.*}}, %{{.*}}, %[[LENGTH]], {{.*}} outs({{.*}}, %[[M]], %[[L]], %[[O]] : {{.*}}) cost(%{{[0-9]+}}, %{{[0-9]+}})
// CHECK: fovea.launch @attention_merge_0 ins({{.*}}) outs({{.*}}, %[[M]], %[[L]], %[[O]] : {{.*}}) cost(%c0, %c0)

// A block walks the part of the steps that is its own, where the window allows keys in it. A part that is not the only
// one is stored as it is, another finished; the sink belongs to the first.
// CHECK-LABEL: func.func private @attention_0(
// CHECK-SAME: %[[M:[a-z0-9]+]]: memref<?x?x8x1xf32>, %[[L:[a-z0-9]+]]: memref<?x?x8x1xf32>, %[[O:[a-z0-9]+]]: memref<?x?x1x8x16xf32>
// CHECK: %[[KNOWN:.*]] = memref.dim %[[M]], %c1
// CHECK: %[[COUNT:.*]] = arith.maxsi %[[KNOWN]], %c1
// CHECK: tile.kernel grid(%[[B:.*]], %{{.*}}, %{{.*}}, %[[PART:.*]]) = (%{{.*}}, %c2, %c1, %[[COUNT]])
// CHECK: %[[STEPS:.*]] = arith.ceildivui %[[LENGTH:.*]], %c32
// CHECK: %[[BEFORE:.*]] = arith.muli %[[PART]], %[[STEPS]]
// CHECK: %[[STEP:.*]] = arith.divsi %[[BEFORE]], %[[COUNT]]
// CHECK: %[[FIRST:.*]] = arith.muli %[[STEP]], %c32
// CHECK: %[[LAST:.*]] = arith.minsi %{{.*}}, %[[LENGTH]]
// CHECK: %[[ISFIRST:.*]] = arith.cmpi slt, %[[PART]], %c1
// CHECK: arith.select %[[ISFIRST]], %{{.*}}, %{{.*}} : f32
// CHECK: arith.maxsi %[[FIRST]],
// CHECK: %[[END:.*]]:3 = scf.for
// CHECK: tile.dot
// CHECK: %[[SEVERAL:.*]] = arith.cmpi sgt, %[[COUNT]], %c1
// CHECK: scf.if %[[SEVERAL]] {
// CHECK: %[[TO:.*]] = tile.view %[[M]] at(%[[B]], %[[PART]]) axes(2, 3)
// CHECK: tile.store %[[END]]#0, %[[TO]]
// CHECK: %[[TO:.*]] = tile.view %[[L]] at(%[[B]], %[[PART]]) axes(2, 3)
// CHECK: tile.store %[[END]]#1, %[[TO]]
// CHECK: %[[TO:.*]] = tile.view %[[O]] at(%[[B]], %[[PART]], %c0) axes(3, 4)
// CHECK: tile.store %[[END]]#2, %[[TO]]
// CHECK: } else {
// CHECK: arith.divf
// CHECK: tile.store

// The merge has no blocks where there are no parts. Each part counts by its own maximum; keys are not read again.
// CHECK-LABEL: func.func private @attention_merge_0(
// CHECK-NOT: !fovea.cache
// CHECK: %[[COUNT:.*]] = memref.dim %{{.*}}, %c1 : memref<?x?x8x1xf32>
// CHECK: %[[ANY:.*]] = arith.minsi %[[COUNT]], %c1
// CHECK: tile.kernel grid({{.*}}) = (%{{.*}}, %c2, %c1, %[[ANY]])
// CHECK: scf.for %[[PART:.*]] = %c0 to %[[COUNT]] step %c1 iter_args(%[[M:.*]] = %{{.*}}, %[[L:.*]] = %{{.*}}, %[[O:.*]] = %{{.*}}) ->
// CHECK: %[[HIGH:.*]] = tile.load %{{.*}} : !tile.view<?x1xf32> -> !tile.tile<4x1xf32>
// CHECK: %[[RAISED:.*]] = tile.map(%{{.*}} = %[[M]], %{{.*}} = %[[HIGH]])
// CHECK: %[[KEPT:.*]] = tile.map(%{{.*}} = %[[M]], %{{.*}} = %[[RAISED]])
// CHECK: math.exp2
// CHECK: %[[ADDED:.*]] = tile.map(%{{.*}} = %[[HIGH]], %{{.*}} = %[[RAISED]])
// CHECK: math.exp2
// CHECK: tile.map(%{{.*}} = %[[L]], %{{.*}} = %[[KEPT]], %{{.*}} = %{{.*}}, %{{.*}} = %[[ADDED]])
// CHECK-NOT: tile.dot
// CHECK: arith.divf
// CHECK: tile.store
// CHECK: return
func.func @split(%q: tensor<?x1x8x16xf32> {fovea.name = "q"}, %k: !fovea.cache<key, 2x16xf32> {fovea.name = "k"}, %v: !fovea.cache<value, 2x16xf32> {fovea.name = "v"}, %s: tensor<8xf32> {fovea.name = "s"}) -> (tensor<?x1x8x16xf32> {fovea.name = "o"}) attributes {fovea.entry} {
  %0 = fovea.group(%a = %q, %b = %k, %c = %v, %d = %s) schedule(#fovea.attention_tiles<queries = 4, keys = 32, axis = heads, scores = [4, 32], values = [4, 16], split = [64, 8]>) : (tensor<?x1x8x16xf32>, !fovea.cache<key, 2x16xf32>, !fovea.cache<value, 2x16xf32>, tensor<8xf32>) -> tensor<?x1x8x16xf32> {
    %m = fovea.mask_window left(40)
    %o = fovea.attention %a, %b, %c mask(%m) sinks(%d : tensor<8xf32>) : tensor<?x1x8x16xf32>, !fovea.cache<key, 2x16xf32>, !fovea.cache<value, 2x16xf32> -> tensor<?x1x8x16xf32>
    fovea.yield %o : tensor<?x1x8x16xf32>
  }
  return %0 : tensor<?x1x8x16xf32>
}
