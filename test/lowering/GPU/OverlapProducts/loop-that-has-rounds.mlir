// RUN: fovea-opt %s --fovea-overlap-products | FileCheck %s

// A loop that surely has rounds stands in no branch. A late product multiplies as before wherever it is done.
// CHECK-LABEL: func.func private @rounds
// CHECK-NOT: scf.if
// CHECK: %[[R:.*]]:4 = scf.for
// CHECK: tile.mma_wait %{{.*}} pending(0) : !tile.tile
// CHECK: }
// CHECK: %[[LAST:.*]] = tile.stage %{{.*}}[%[[R]]#3]
// CHECK: %[[SUM:.*]] = tile.mma %[[R]]#2, %[[LAST]] transpose_b into %[[R]]#0 atom(m64k16) :
// CHECK: tile.store %[[SUM]]
func.func private @rounds(%y: memref<?x64xf32>, %n: index) {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %c64 = arith.constant 64 : index
  %c256 = arith.constant 256 : index
  %zero = arith.constant 0.0 : f32
  %yv = tile.view %y axes(0, 1) : memref<?x64xf32> -> !tile.view<?x64xf32>
  tile.kernel grid(%i) = (%n) {
    %q = tile.shared : !tile.shared<64x64xbf16, swizzle 128>
    %ring = tile.shared stages(3) kept(1) : !tile.shared<64x64xbf16, swizzle 128>
    %none = tile.splat %zero : !tile.tile<64x64xf32>
    %r:2 = scf.for %j = %c0 to %c256 step %c64 iter_args(%o = %none, %slot = %c0) -> (!tile.tile<64x64xf32>, index) {
      tile.async_wait pending(0)
      tile.barrier
      %ks = tile.stage %ring[%slot] : !tile.shared<64x64xbf16, swizzle 128>
      %s = tile.mma %q, %ks transpose_b into %none atom(m64k16) : !tile.shared<64x64xbf16, swizzle 128>, !tile.shared<64x64xbf16, swizzle 128> -> !tile.tile<64x64xf32>
      %p = tile.cast %s : !tile.tile<64x64xf32> -> !tile.tile<64x64xbf16>
      %sum = tile.mma %p, %ks transpose_b into %o atom(m64k16) : !tile.tile<64x64xbf16>, !tile.shared<64x64xbf16, swizzle 128> -> !tile.tile<64x64xf32>
      %other = arith.xori %slot, %c1 : index
      scf.yield %sum, %other : !tile.tile<64x64xf32>, index
    }
    tile.store %r#0, %yv[%i, %c0] : !tile.tile<64x64xf32>, !tile.view<?x64xf32>
  }
  return
}
