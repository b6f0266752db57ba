// RUN: fovea-opt %s --fovea-tile-to-threads --canonicalize --cse | FileCheck %s

#row = #tile.layout<rows = [], columns = [threads 32 by 1]>

gpu.module @gpu {
// What takes longest is begun first: of an axis on which a loop's bound depends the last index comes first, and the others change
// faster.
// CHECK-LABEL: func.func private @causal
// CHECK-SAME: %[[HEADS:[a-z0-9_]*]]: index, %[[TILES:[a-z0-9_]*]]: index, %{{[a-z0-9_]*}}: index, %{{[a-z0-9_]*}}: index)
func.func private @causal(%x: memref<?x32xf32>, %y: memref<?x?x32xf32>, %heads: index, %tiles: index, %part: index, %parts: index) attributes {fovea.threads = 32 : i32} {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %cst = arith.constant 0.0 : f32
  %from = tile.view %x axes(0, 1) : memref<?x32xf32> -> !tile.view<?x32xf32>
  // CHECK: %[[BLOCK:.*]] = nvvm.read.ptx.sreg.ctaid.x
  // CHECK: %[[POINT:.*]] = arith.index_castui %[[BLOCK]] : i32 to index
  // CHECK: arith.remui %[[POINT]], %[[HEADS]] : index
  // CHECK-DAG: %[[TURN:.*]] = arith.divui %[[POINT]], %[[HEADS]] : index
  // CHECK-DAG: %[[LAST:.*]] = arith.subi %[[TILES]], %c1 : index
  // CHECK: %[[TILE:.*]] = arith.subi %[[LAST]], %[[TURN]] : index
  // CHECK: %[[MORE:.*]] = arith.addi %[[TILE]], %c1 : index
  // CHECK: scf.for %{{.*}} = %c0 to %[[MORE]]
  tile.kernel grid(%head, %tile) = (%heads, %tiles) {
    %to = tile.view %y at(%head) axes(1, 2) : memref<?x?x32xf32> -> !tile.view<?x32xf32>
    %more = arith.addi %tile, %c1 : index
    %zero = tile.splat %cst : !tile.tile<1x32xf32, #row>
    %sum = scf.for %j = %c0 to %more step %c1 iter_args(%so_far = %zero) -> (!tile.tile<1x32xf32, #row>) {
      %next = tile.load %from[%j, %c0] : !tile.view<?x32xf32> -> !tile.tile<1x32xf32, #row>
      %both = tile.map(%l = %so_far, %r = %next) : (!tile.tile<1x32xf32, #row>, !tile.tile<1x32xf32, #row>) -> !tile.tile<1x32xf32, #row> {
        %add = arith.addf %l, %r : f32
        tile.yield %add : f32
      }
      scf.yield %both : !tile.tile<1x32xf32, #row>
    }
    tile.store %sum, %to[%tile, %c0] : !tile.tile<1x32xf32, #row>, !tile.view<?x32xf32>
  }
  return
}

// Where all points take as long, the last axis changes fastest and all run forwards.
// CHECK-LABEL: func.func private @even
// CHECK-SAME: %[[HEADS:[a-z0-9_]*]]: index, %[[TILES:[a-z0-9_]*]]: index, %{{[a-z0-9_]*}}: index, %{{[a-z0-9_]*}}: index)
func.func private @even(%x: memref<?x32xf32>, %y: memref<?x?x32xf32>, %heads: index, %tiles: index, %part: index, %parts: index) attributes {fovea.threads = 32 : i32} {
  %c0 = arith.constant 0 : index
  %from = tile.view %x axes(0, 1) : memref<?x32xf32> -> !tile.view<?x32xf32>
  // CHECK: arith.remui %{{.*}}, %[[TILES]] : index
  // CHECK: arith.divui %{{.*}}, %[[TILES]] : index
  // CHECK-NOT: arith.subi
  // CHECK: return
  tile.kernel grid(%head, %tile) = (%heads, %tiles) {
    %to = tile.view %y at(%head) axes(1, 2) : memref<?x?x32xf32> -> !tile.view<?x32xf32>
    %next = tile.load %from[%head, %c0] : !tile.view<?x32xf32> -> !tile.tile<1x32xf32, #row>
    tile.store %next, %to[%tile, %c0] : !tile.tile<1x32xf32, #row>, !tile.view<?x32xf32>
  }
  return
}
}
