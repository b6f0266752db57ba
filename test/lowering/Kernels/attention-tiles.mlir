// RUN: fovea-opt %s --fovea-to-kernels --split-input-file | FileCheck %s

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

// -----

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

// -----

// Only where a row has no key at all is there a second pass.
// CHECK-LABEL: func.func private @attention_0(
// CHECK: %[[ANY:.*]] = tile.extract
// CHECK: %[[TEST:.*]] = arith.cmpf olt, %{{.*}}, %[[ANY]]
// CHECK: scf.if %[[TEST]]
func.func @mean(%q: tensor<?x?x2x8xf32> {fovea.name = "q"}, %k: tensor<?x?x1x8xf32> {fovea.name = "k"}, %v: tensor<?x?x1x8xf32> {fovea.name = "v"}) -> (tensor<?x?x2x8xf32> {fovea.name = "o"}) attributes {fovea.entry} {
  %0 = fovea.group(%a = %q, %b = %k, %c = %v) schedule(#fovea.attention_tiles<queries = 16, keys = 32, axis = queries, scores = [4, 16], values = [4, 16]>) : (tensor<?x?x2x8xf32>, tensor<?x?x1x8xf32>, tensor<?x?x1x8xf32>) -> tensor<?x?x2x8xf32> {
    %m = fovea.mask_window right(-1)
    %o = fovea.attention %a, %b, %c mask(%m) fill(mean) : tensor<?x?x2x8xf32>, tensor<?x?x1x8xf32>, tensor<?x?x1x8xf32> -> tensor<?x?x2x8xf32>
    fovea.yield %o : tensor<?x?x2x8xf32>
  }
  return %0 : tensor<?x?x2x8xf32>
}

// -----

// Documents packed in a row: the ids of the block's queries are read first, then those of all keys, once and without
// branches. What follows knows the first and the last key of these documents, and whether to ask the mask between them.
// CHECK-LABEL: func.func private @attention_0(
// CHECK: tile.kernel grid(%[[B:.*]], %{{.*}}, %[[TILE:.*]]) =
// CHECK: %[[FIRST:.*]] = arith.muli %[[TILE]], %c16
// CHECK: %[[NEXT:.*]] = arith.addi %[[FIRST]], %c16
// CHECK: %[[CLAMPED:.*]] = arith.minsi %[[NEXT]],
// CHECK: %[[END:.*]] = arith.minsi %[[CLAMPED]],
// CHECK: %[[IDS:.*]]:2 = scf.for %[[I:.*]] = %[[FIRST]] to %[[END]] step %c1 iter_args(
// CHECK: %[[ID:.*]] = memref.load %[[S:.*]][%[[ROW:.*]], %[[I]]] : memref<?x?xi32>
// CHECK: arith.minsi %{{.*}}, %[[ID]]
// CHECK: arith.maxsi %{{.*}}, %[[ID]]
// CHECK: %[[FOUND:.*]]:3 = scf.for %[[J:.*]] = %c0 to %{{.*}} step %c1 iter_args(
// CHECK: memref.load %[[S]][%[[ROW]], %[[J]]] : memref<?x?xi32>
// CHECK-NOT: scf.if
// CHECK: scf.yield %{{.*}}, %{{.*}}, %{{.*}} : i32, i32, i32
// CHECK: %[[BEGIN:.*]] = arith.index_cast %[[FOUND]]#0 : i32 to index
// CHECK: arith.index_cast %[[FOUND]]#1 : i32 to index
// CHECK: arith.cmpi eq, %[[IDS]]#0, %[[IDS]]#1 : i32
// CHECK: scf.for %{{.*}} = %c0 to %c2 step %c1 iter_args(
// CHECK: tile.dot
// CHECK: arith.cmpi eq
// CHECK: tile.reduce maximum
// CHECK: %[[PRODUCT:.*]] = tile.dot %{{.*}} transpose_b
// CHECK-NOT: arith.cmpi
// CHECK: tile.reduce maximum %[[PRODUCT]] axis(1)
func.func @documents(%q: tensor<?x?x2x8xf32> {fovea.name = "q"}, %k: tensor<?x?x1x8xf32> {fovea.name = "k"}, %v: tensor<?x?x1x8xf32> {fovea.name = "v"}, %s: tensor<?x?xi32> {fovea.name = "s"}) -> (tensor<?x?x2x8xf32> {fovea.name = "o"}) attributes {fovea.entry} {
  %0 = fovea.group(%a = %q, %b = %k, %c = %v, %d = %s) schedule(#fovea.attention_tiles<queries = 16, keys = 32, axis = queries, scores = [4, 16], values = [4, 16]>) : (tensor<?x?x2x8xf32>, tensor<?x?x1x8xf32>, tensor<?x?x1x8xf32>, tensor<?x?xi32>) -> tensor<?x?x2x8xf32> {
    %m = fovea.mask_segment %d, %d : tensor<?x?xi32>, tensor<?x?xi32>
    %o = fovea.attention %a, %b, %c mask(%m) : tensor<?x?x2x8xf32>, tensor<?x?x1x8xf32>, tensor<?x?x1x8xf32> -> tensor<?x?x2x8xf32>
    fovea.yield %o : tensor<?x?x2x8xf32>
  }
  return %0 : tensor<?x?x2x8xf32>
}

// -----

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
