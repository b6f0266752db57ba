// RUN: fovea-opt %s --fovea-tile-to-threads --canonicalize --cse | FileCheck %s

// Weights in panels of a GPU: 16 bytes at a time, in place and into a swizzle. What is not whole there is of the view's end.

#one = #tile.layout<rows = [], columns = [threads 32 by 1]>
gpu.module @gpu {
  // CHECK-LABEL: func.func private @eights
  // CHECK-COUNT-16: nvvm.cp.async.shared.global %{{.*}}, %{{.*}}, 16, cache = cg : !llvm.ptr<3>, !llvm.ptr<1>
  // CHECK-NOT: cp.async
  // CHECK: scf.for
  // CHECK-NOT: memref.load
  // CHECK-COUNT-4: vector.load %{{.*}} {alignment = 16 : i64} : memref<{{.*}}>, vector<8xbf16>
  // CHECK-NOT: vector.load
  func.func private @eights(%x: memref<1x64xf32>, %w: memref<2x8x32x8xbf16>, %y: memref<1x64xf32>, %part: index, %parts: index) attributes {fovea.threads = 32 : i32} {
    %c0 = arith.constant 0 : index
    %c1 = arith.constant 1 : index
    %zero = arith.constant 0.0 : f32
    %xv = tile.view %x axes(0, 1) : memref<1x64xf32> -> !tile.view<1x64xf32>
    %wv = tile.packed %w : memref<2x8x32x8xbf16> -> !tile.view<64x64xbf16>
    %yv = tile.view %y axes(0, 1) : memref<1x64xf32> -> !tile.view<1x64xf32>
    tile.kernel grid(%b) = (%c1) {
      %ws = tile.shared at(0) : !tile.shared<64x64xbf16, swizzle 128>
      tile.copy %wv[%c0, %c0] to %ws async : !tile.view<64x64xbf16>, !tile.shared<64x64xbf16, swizzle 128>
      %xs = tile.shared at(8192) : !tile.shared<1x64xf32>
      %wt = tile.load %wv[%c0, %c0] : !tile.view<64x64xbf16> -> !tile.tile<32x64xbf16>
      %none = tile.splat %zero : !tile.tile<1x32xf32, #one>
      %sum = tile.mma %xs, %wt transpose_b into %none : !tile.shared<1x64xf32>, !tile.tile<32x64xbf16> -> !tile.tile<1x32xf32, #one>
      tile.store %sum, %yv[%c0, %c0] : !tile.tile<1x32xf32, #one>, !tile.view<1x64xf32>
    }
    return
  }
}
