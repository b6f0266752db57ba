// RUN: fovea-opt %s --fovea-overlap-products | FileCheck %s

// The second product of a round begins beside the first of the next one, and ends with that round. What each round
// computes of its scores stands between; the sum of weights is what surely comes before the wait.
// CHECK-LABEL: func.func private @attention
// CHECK-SAME: %[[N:[a-z0-9]*]]: index
func.func private @attention(%y: memref<?x64xf32>, %z: memref<?x1xf32>, %n: index) {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %c64 = arith.constant 64 : index
  %zero = arith.constant 0.0 : f32
  %half = arith.constant 0.5 : f32
  %yv = tile.view %y axes(0, 1) : memref<?x64xf32> -> !tile.view<?x64xf32>
  %zv = tile.view %z axes(0, 1) : memref<?x1xf32> -> !tile.view<?x1xf32>
  tile.kernel grid(%i) = (%n) {
    // CHECK: %[[Q:.*]] = tile.shared : !tile.shared<64x64xbf16, swizzle 128>
    // CHECK: %[[RING:.*]] = tile.shared stages(3) kept(1)
    %q = tile.shared : !tile.shared<64x64xbf16, swizzle 128>
    %ring = tile.shared stages(3) kept(1) : !tile.shared<64x64xbf16, swizzle 128>
    %none = tile.splat %zero : !tile.tile<64x64xf32>
    %start = tile.splat %zero : !tile.tile<64x1xf32>
    // CHECK: %[[ANY:.*]] = arith.cmpi sgt, %[[N]], %c0 : index
    // CHECK: %[[ALL:.*]]:3 = scf.if %[[ANY]]
    // The first round.
    // CHECK: tile.async_wait pending(0)
    // CHECK: tile.barrier
    // CHECK: %[[S0:.*]] = tile.mma %[[Q]], %{{.*}} transpose_b into %{{.*}} atom(m64k16) : !tile.shared
    // CHECK: %[[T0:.*]] = tile.map(
    // CHECK: %[[O0:.*]] = tile.map(
    // CHECK: %[[P0:.*]] = tile.cast %[[S0]]
    // CHECK-NOT: tile.mma
    // CHECK: %[[NEXT0:.*]] = arith.xori %c0, %c1
    // CHECK: %[[R:.*]]:5 = scf.for %{{.*}} = %c64{{.*}} to %[[N]] step %c64 iter_args(%[[T:.*]] = %[[T0]], %[[O:.*]] = %[[O0]], %[[SLOT:.*]] = %[[NEXT0]], %[[P:.*]] = %[[P0]], %[[BEFORE:.*]] = %c0)
    %r:3 = scf.for %j = %c0 to %n step %c64 iter_args(%total = %start, %o = %none, %slot = %c0) -> (!tile.tile<64x1xf32>, !tile.tile<64x64xf32>, index) {
      // CHECK: tile.async_wait pending(0)
      // CHECK: tile.barrier
      // CHECK: %[[K:.*]] = tile.stage %[[RING]][%[[SLOT]]]
      // CHECK: %[[BEGUN:.*]] = tile.mma %[[Q]], %[[K]] transpose_b into %{{.*}} atom(m64k16) async
      // CHECK: %[[LATE:.*]] = tile.stage %[[RING]][%[[BEFORE]]]
      // CHECK: %[[SUM:.*]] = tile.mma %[[P]], %[[LATE]] into %[[O]] atom(m64k16) async
      // CHECK: %[[S:.*]] = tile.mma_wait %[[BEGUN]] pending(1) : !tile.tile<64x64xf32>
      tile.async_wait pending(0)
      tile.barrier
      %ks = tile.stage %ring[%slot] : !tile.shared<64x64xbf16, swizzle 128>
      %s = tile.mma %q, %ks transpose_b into %none atom(m64k16) : !tile.shared<64x64xbf16, swizzle 128>, !tile.shared<64x64xbf16, swizzle 128> -> !tile.tile<64x64xf32>
      // CHECK: tile.reduce sum %[[S]]
      // CHECK: %[[TOTAL:.*]] = tile.map(%{{.*}} = %[[T]],
      %sums = tile.reduce sum %s axis(1) : !tile.tile<64x64xf32> -> !tile.tile<64x1xf32>
      %next = tile.map(%a = %total, %b = %sums) : (!tile.tile<64x1xf32>, !tile.tile<64x1xf32>) -> !tile.tile<64x1xf32> {
        %0 = arith.addf %a, %b : f32
        tile.yield %0 : f32
      }
      %scaled = tile.map(%a = %o) : (!tile.tile<64x64xf32>) -> !tile.tile<64x64xf32> {
        %0 = arith.mulf %a, %half : f32
        tile.yield %0 : f32
      }
      // CHECK: %[[DONE:.*]] = tile.mma_wait %[[SUM]] pending(0) after(%[[TOTAL]] : !tile.tile<64x1xf32>) : !tile.tile<64x64xf32>
      // CHECK: %[[SCALED:.*]] = tile.map(%{{.*}} = %[[DONE]])
      // CHECK: %[[NARROW:.*]] = tile.cast %[[S]]
      // CHECK: scf.yield %[[TOTAL]], %[[SCALED]], %{{.*}}, %[[NARROW]], %[[SLOT]]
      %p = tile.cast %s : !tile.tile<64x64xf32> -> !tile.tile<64x64xbf16>
      %vs = tile.stage %ring[%slot] : !tile.shared<64x64xbf16, swizzle 128>
      %sum = tile.mma %p, %vs into %scaled atom(m64k16) : !tile.tile<64x64xbf16>, !tile.shared<64x64xbf16, swizzle 128> -> !tile.tile<64x64xf32>
      %other = arith.xori %slot, %c1 : index
      scf.yield %next, %sum, %other : !tile.tile<64x1xf32>, !tile.tile<64x64xf32>, index
    }
    // CHECK: %[[LAST:.*]] = tile.stage %[[RING]][%[[R]]#4]
    // CHECK: %[[ENDS:.*]] = tile.mma %[[R]]#3, %[[LAST]] into %[[R]]#1 atom(m64k16) : !tile.tile
    // CHECK: scf.yield %[[R]]#0, %[[ENDS]], %[[R]]#2
    // CHECK: else
    // CHECK: tile.store %[[ALL]]#1
    // CHECK: tile.store %[[ALL]]#0
    tile.store %r#1, %yv[%i, %c0] : !tile.tile<64x64xf32>, !tile.view<?x64xf32>
    tile.store %r#0, %zv[%i, %c0] : !tile.tile<64x1xf32>, !tile.view<?x1xf32>
  }
  return
}
