// RUN: fovea-opt %s --fovea-overlap-products | FileCheck %s

// The slot of the round before is being filled; the sum is needed in its own round; the second product is none of the first.
// CHECK-LABEL: func.func private @others
// CHECK-NOT: {{ async}}
// CHECK-NOT: tile.mma_wait
func.func private @others(%y: memref<?x64xf32>, %n: index) {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %c64 = arith.constant 64 : index
  %zero = arith.constant 0.0 : f32
  %yv = tile.view %y axes(0, 1) : memref<?x64xf32> -> !tile.view<?x64xf32>
  tile.kernel grid(%i) = (%n) {
    %q = tile.shared : !tile.shared<64x64xbf16, swizzle 128>
    %two = tile.shared stages(2) : !tile.shared<64x64xbf16, swizzle 128>
    %ring = tile.shared stages(3) kept(1) : !tile.shared<64x64xbf16, swizzle 128>
    %none = tile.splat %zero : !tile.tile<64x64xf32>
    %start = tile.splat %zero : !tile.tile<64x1xf32>
    %a:2 = scf.for %j = %c0 to %n step %c64 iter_args(%o = %none, %slot = %c0) -> (!tile.tile<64x64xf32>, index) {
      tile.async_wait pending(0)
      tile.barrier
      %ks = tile.stage %two[%slot] : !tile.shared<64x64xbf16, swizzle 128>
      %s = tile.mma %q, %ks transpose_b into %none atom(m64k16) : !tile.shared<64x64xbf16, swizzle 128>, !tile.shared<64x64xbf16, swizzle 128> -> !tile.tile<64x64xf32>
      %p = tile.cast %s : !tile.tile<64x64xf32> -> !tile.tile<64x64xbf16>
      %sum = tile.mma %p, %ks into %o atom(m64k16) : !tile.tile<64x64xbf16>, !tile.shared<64x64xbf16, swizzle 128> -> !tile.tile<64x64xf32>
      %other = arith.xori %slot, %c1 : index
      scf.yield %sum, %other : !tile.tile<64x64xf32>, index
    }
    %b:3 = scf.for %j = %c0 to %n step %c64 iter_args(%o = %none, %most = %start, %slot = %c0) -> (!tile.tile<64x64xf32>, !tile.tile<64x1xf32>, index) {
      tile.async_wait pending(0)
      tile.barrier
      %ks = tile.stage %ring[%slot] : !tile.shared<64x64xbf16, swizzle 128>
      %s = tile.mma %q, %ks transpose_b into %none atom(m64k16) : !tile.shared<64x64xbf16, swizzle 128>, !tile.shared<64x64xbf16, swizzle 128> -> !tile.tile<64x64xf32>
      %p = tile.cast %s : !tile.tile<64x64xf32> -> !tile.tile<64x64xbf16>
      %m = tile.reduce maximum %o axis(1) : !tile.tile<64x64xf32> -> !tile.tile<64x1xf32>
      %sum = tile.mma %p, %ks into %o atom(m64k16) : !tile.tile<64x64xbf16>, !tile.shared<64x64xbf16, swizzle 128> -> !tile.tile<64x64xf32>
      %other = arith.xori %slot, %c1 : index
      scf.yield %sum, %m, %other : !tile.tile<64x64xf32>, !tile.tile<64x1xf32>, index
    }
    %c:2 = scf.for %j = %c0 to %n step %c64 iter_args(%o = %b#0, %slot = %c0) -> (!tile.tile<64x64xf32>, index) {
      tile.async_wait pending(0)
      tile.barrier
      %ks = tile.stage %ring[%slot] : !tile.shared<64x64xbf16, swizzle 128>
      %s = tile.mma %q, %ks transpose_b into %none atom(m64k16) : !tile.shared<64x64xbf16, swizzle 128>, !tile.shared<64x64xbf16, swizzle 128> -> !tile.tile<64x64xf32>
      %sum = tile.mma %q, %ks into %o atom(m64k16) : !tile.shared<64x64xbf16, swizzle 128>, !tile.shared<64x64xbf16, swizzle 128> -> !tile.tile<64x64xf32>
      %other = arith.xori %slot, %c1 : index
      scf.yield %sum, %other : !tile.tile<64x64xf32>, index
    }
    tile.store %a#0, %yv[%i, %c0] : !tile.tile<64x64xf32>, !tile.view<?x64xf32>
    tile.store %c#0, %yv[%i, %c0] : !tile.tile<64x64xf32>, !tile.view<?x64xf32>
  }
  return
}
