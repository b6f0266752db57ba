// RUN: fovea-opt %s --fovea-pipeline-copies | FileCheck %s
// RUN: fovea-opt %s --fovea-pipeline-copies=stages=2 | FileCheck %s --check-prefix=TWO
// RUN: fovea-opt %s --fovea-pipeline-copies=limit=80000 | FileCheck %s --check-prefix=SMALL
// RUN: fovea-opt %s --fovea-pipeline-copies=stages=1 | FileCheck %s --check-prefix=ONE

// Each round waits for its data, and one barrier says that they are there and that the slot of the round before is free.
// CHECK-LABEL: func.func private @product
// SMALL-LABEL: func.func private @product
// ONE-LABEL: func.func private @product
// TWO-LABEL: func.func private @product
func.func private @product(%x: memref<?x192xf32>, %w: memref<64x192xf32>, %y: memref<?x64xf32>, %zero: !tile.tile<64x64xf32>, %n: index) {
  %c0 = arith.constant 0 : index
  %c32 = arith.constant 32 : index
  %c192 = arith.constant 192 : index
  %xv = tile.view %x axes(0, 1) : memref<?x192xf32> -> !tile.view<?x192xf32>
  %wv = tile.view %w axes(0, 1) : memref<64x192xf32> -> !tile.view<64x192xf32>
  %yv = tile.view %y axes(0, 1) : memref<?x64xf32> -> !tile.view<?x64xf32>
  tile.kernel grid(%i) = (%n) {
    // ONE: tile.copy %{{.*}}[%{{.*}}, %{{.*}}] to %{{.*}} : !tile.view
    // CHECK: %[[X:.*]] = tile.shared stages(3) : !tile.shared<64x32xf32, strides [36, 1]>
    // CHECK: %[[W:.*]] = tile.shared stages(3) : !tile.shared<64x32xf32, strides [36, 1]>
    // SMALL: tile.shared stages(2) : !tile.shared<64x32xf32, strides [36, 1]>
    %xs = tile.shared : !tile.shared<64x32xf32, strides [36, 1]>
    %ws = tile.shared : !tile.shared<64x32xf32, strides [36, 1]>
    // The first two rounds: whether there is one is known only if bounds are.
    // CHECK: scf.for %[[P:[a-z0-9]*]] = %{{.*}} to %{{.*}} step %{{.*}} {
    // CHECK: %[[OFFSET:.*]] = arith.muli %[[P]], %{{.*}} : index
    // CHECK: %[[FIRST:.*]] = arith.addi %{{.*}}, %[[OFFSET]] : index
    // CHECK: %[[XP:.*]] = tile.stage %[[X]][%[[P]]] : !tile.shared<64x32xf32, strides [36, 1]>
    // CHECK: %[[WP:.*]] = tile.stage %[[W]][%[[P]]]
    // CHECK: scf.if
    // CHECK-NEXT: tile.copy %{{.*}}[%{{.*}}, %[[FIRST]]] to %[[XP]] async
    // CHECK-NEXT: tile.copy %{{.*}}[%{{.*}}, %[[FIRST]]] to %[[WP]] async
    // CHECK-NEXT: }
    // CHECK-NEXT: tile.async_commit
    // CHECK: }
    // CHECK: scf.for %[[K:[a-z0-9]*]] = %{{.*}} iter_args(%[[SUM:.*]] = %{{.*}}, %[[SLOT:.*]] = %{{.*}}) -> (!tile.tile<64x64xf32>, index) {
    // CHECK-NEXT: tile.async_wait pending(1)
    // CHECK-NEXT: tile.barrier
    // CHECK: %[[FREE:.*]] = arith.select
    // CHECK: %[[AHEAD:.*]] = arith.addi %[[K]], %{{.*}} : index
    // CHECK: %[[XF:.*]] = tile.stage %[[X]][%[[FREE]]]
    // CHECK: scf.if
    // CHECK-NEXT: tile.copy %{{.*}}[%{{.*}}, %[[AHEAD]]] to %[[XF]] async
    // CHECK: tile.async_commit
    // CHECK: %[[XS:.*]] = tile.stage %[[X]][%[[SLOT]]]
    // CHECK: %[[WS:.*]] = tile.stage %[[W]][%[[SLOT]]]
    // CHECK-NOT: tile.copy
    // CHECK: %[[NEXT:.*]] = tile.mma %[[XS]], %[[WS]] transpose_b into %[[SUM]]
    // CHECK: %[[FOLLOWING:.*]] = arith.select
    // CHECK: scf.yield %[[NEXT]], %[[FOLLOWING]] : !tile.tile<64x64xf32>, index
    // CHECK: }
    // CHECK-NEXT: tile.async_wait pending(0)
    // Of two stages one round is begun before the loop, surely.
    // TWO: %[[X:.*]] = tile.shared stages(2)
    // TWO: tile.stage %[[X]][%[[ZERO:.*]]]
    // TWO-NOT: scf.if
    // TWO: tile.copy %{{.*}}[%{{.*}}, %{{.*}}] to %{{.*}} async
    // TWO: tile.async_commit
    // TWO: scf.for
    // TWO-NEXT: tile.async_wait pending(0)
    // TWO-NEXT: tile.barrier
    %s = scf.for %k = %c0 to %c192 step %c32 iter_args(%sum = %zero) -> (!tile.tile<64x64xf32>) {
      tile.copy %xv[%i, %k] to %xs : !tile.view<?x192xf32>, !tile.shared<64x32xf32, strides [36, 1]>
      tile.copy %wv[%i, %k] to %ws : !tile.view<64x192xf32>, !tile.shared<64x32xf32, strides [36, 1]>
      %next = tile.mma %xs, %ws transpose_b into %sum : !tile.shared<64x32xf32, strides [36, 1]>, !tile.shared<64x32xf32, strides [36, 1]> -> !tile.tile<64x64xf32>
      scf.yield %next : !tile.tile<64x64xf32>
    }
    tile.store %s, %yv[%i, %c0] : !tile.tile<64x64xf32>, !tile.view<?x64xf32>
  }
  return
}
