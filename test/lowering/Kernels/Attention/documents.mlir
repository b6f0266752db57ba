// RUN: fovea-opt %s --fovea-to-kernels | FileCheck %s

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
