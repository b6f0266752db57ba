// RUN: fovea-opt %s --fovea-tile-to-threads --canonicalize --cse | FileCheck %s

// Threads 32 to 63 hold copies of what 0 to 31 hold: each half of the block takes every other 32 of k, and all add both sums.

#one = #tile.layout<rows = [], columns = [threads 32 by 1]>
gpu.module @gpu {
  // CHECK-LABEL: func.func private @shares_depth
  // CHECK: %[[THREAD:.*]] = nvvm.read.ptx.sreg.tid.x : i32
  // CHECK: %[[PLACE:.*]] = arith.remui %[[THREAD]], %{{.*}} : i32
  // CHECK: %[[TURN:.*]] = arith.divui %[[THREAD]], %{{.*}} : i32
  // CHECK: %[[NUMBER:.*]] = arith.index_castui %[[TURN]] : i32 to index
  // CHECK: %[[FIRST:.*]] = arith.muli %[[NUMBER]], %c32 : index
  // CHECK: %[[SUM:.*]] = scf.for %{{.*}} = %[[FIRST]] to %c128 step %c64 iter_args(%{{.*}} = %{{.*}}) -> (f32) {
  // CHECK: llvm.store %[[SUM]], %{{.*}} : f32, !llvm.ptr<3>
  // CHECK: nvvm.barrier
  // CHECK: %[[ONE:.*]] = llvm.load %{{.*}} : !llvm.ptr<3> -> f32
  // CHECK: %[[OTHER:.*]] = llvm.load %{{.*}} : !llvm.ptr<3> -> f32
  // CHECK: arith.addf %[[ONE]], %[[OTHER]] : f32
  func.func private @shares_depth(%x: memref<1x128xf32>, %w: memref<1x16x32x8xbf16>, %y: memref<1x32xf32>, %part: index, %parts: index) attributes {fovea.threads = 64 : i32} {
    %c0 = arith.constant 0 : index
    %c1 = arith.constant 1 : index
    %zero = arith.constant 0.0 : f32
    %wv = tile.packed %w : memref<1x16x32x8xbf16> -> !tile.view<32x128xbf16>
    %yv = tile.view %y axes(0, 1) : memref<1x32xf32> -> !tile.view<1x32xf32>
    tile.kernel grid(%b) = (%c1) {
      %xs = tile.shared at(0) : !tile.shared<1x128xf32>
      %both = tile.shared at(512) : !tile.shared<64x1xf32>
      %wt = tile.load %wv[%c0, %c0] : !tile.view<32x128xbf16> -> !tile.tile<32x128xbf16>
      %none = tile.splat %zero : !tile.tile<1x32xf32, #one>
      %sum = tile.mma %xs, %wt transpose_b into %none scratch(%both : !tile.shared<64x1xf32>) : !tile.shared<1x128xf32>, !tile.tile<32x128xbf16> -> !tile.tile<1x32xf32, #one>
      tile.store %sum, %yv[%c0, %c0] : !tile.tile<1x32xf32, #one>, !tile.view<1x32xf32>
    }
    return
  }
}
