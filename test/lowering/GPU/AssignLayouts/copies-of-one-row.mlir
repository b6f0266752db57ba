// RUN: fovea-opt %s --fovea-assign-layouts | FileCheck %s

// One row of 32 outputs has copies in the block's other warps: they share what streams from memory, and meet.
// CHECK: #[[$ONE:.*]] = #tile.layout<rows = [], columns = [threads 32 by 1]>
// CHECK-LABEL: func.func private @one_row
// CHECK-SAME: fovea.threads = 128 : i32
func.func private @one_row(%x: memref<1x128xf32>, %w: memref<1x16x32x8xbf16>, %xs: !tile.shared<1x128xf32>, %y: memref<1x32xf32>) {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %zero = arith.constant 0.0 : f32
  %wv = tile.packed %w : memref<1x16x32x8xbf16> -> !tile.view<32x128xbf16>
  %yv = tile.view %y axes(0, 1) : memref<1x32xf32> -> !tile.view<1x32xf32>
  tile.kernel grid(%b) = (%c1) {
    // CHECK: %[[BOTH:.*]] = tile.shared : !tile.shared<128x1xf32>
    // CHECK: tile.mma {{.*}} scratch(%[[BOTH]] : !tile.shared<128x1xf32>) : {{.*}} -> !tile.tile<1x32xf32, #[[$ONE]]>
    %wt = tile.load %wv[%c0, %c0] : !tile.view<32x128xbf16> -> !tile.tile<32x128xbf16>
    %none = tile.splat %zero : !tile.tile<1x32xf32>
    %sum = tile.mma %xs, %wt transpose_b into %none : !tile.shared<1x128xf32>, !tile.tile<32x128xbf16> -> !tile.tile<1x32xf32>
    tile.store %sum, %yv[%c0, %c0] : !tile.tile<1x32xf32>, !tile.view<1x32xf32>
  }
  return
}

// A long depth has more warps, so that more of the weight is under way.
// CHECK-LABEL: func.func private @long
// CHECK-SAME: fovea.threads = 512 : i32
func.func private @long(%x: memref<1x2048xf32>, %w: memref<1x256x32x8xbf16>, %xs: !tile.shared<1x2048xf32>, %y: memref<1x32xf32>) {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %zero = arith.constant 0.0 : f32
  %wv = tile.packed %w : memref<1x256x32x8xbf16> -> !tile.view<32x2048xbf16>
  %yv = tile.view %y axes(0, 1) : memref<1x32xf32> -> !tile.view<1x32xf32>
  tile.kernel grid(%b) = (%c1) {
    // CHECK: tile.shared : !tile.shared<512x1xf32>
    %wt = tile.load %wv[%c0, %c0] : !tile.view<32x2048xbf16> -> !tile.tile<32x2048xbf16>
    %none = tile.splat %zero : !tile.tile<1x32xf32>
    %sum = tile.mma %xs, %wt transpose_b into %none : !tile.shared<1x2048xf32>, !tile.tile<32x2048xbf16> -> !tile.tile<1x32xf32>
    tile.store %sum, %yv[%c0, %c0] : !tile.tile<1x32xf32>, !tile.view<1x32xf32>
  }
  return
}
