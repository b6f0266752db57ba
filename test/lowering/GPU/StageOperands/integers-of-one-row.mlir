// RUN: fovea-opt %s --fovea-stage-operands --verify-diagnostics | FileCheck %s

// Integers of one row are read where they lie: whole groups of them.

// CHECK-LABEL: func.func private @integers_of_one_row
func.func private @integers_of_one_row(%x: memref<1x192xf32>, %w: memref<16x6x32x16xi8>, %s: memref<16x6x32xf16>, %y: memref<1x512xf32>) {
  %c0 = arith.constant 0 : index
  %c4 = arith.constant 4 : index
  %xv = tile.view %x axes(0, 1) : memref<1x192xf32> -> !tile.view<1x192xf32>
  %wv = tile.packed %w : memref<16x6x32x16xi8> -> !tile.view<512x192xi4>
  %sv = tile.packed %s : memref<16x6x32xf16> -> !tile.view<512x6xf16>
  %yv = tile.view %y axes(0, 1) : memref<1x512xf32> -> !tile.view<1x512xf32>
  tile.kernel grid(%j) = (%c4) {
    // CHECK: tile.copy {{.*}} !tile.shared<1x192xf32
    // CHECK: %[[Q:.*]] = tile.load %{{.*}} : !tile.view<512x192xi4> -> !tile.tile<128x192xi4>
    // CHECK: %[[F:.*]] = tile.load %{{.*}} : !tile.view<512x6xf16> -> !tile.tile<128x6xf16>
    // CHECK: %[[B:.*]] = tile.dequantize %[[Q]] scales(%[[F]])
    // CHECK: tile.mma %{{.*}}, %[[B]] transpose_b
    %a = tile.load %xv[%c0, %c0] : !tile.view<1x192xf32> -> !tile.tile<1x192xf32>
    %q = tile.load %wv[%j, %c0] : !tile.view<512x192xi4> -> !tile.tile<128x192xi4>
    %f = tile.load %sv[%j, %c0] : !tile.view<512x6xf16> -> !tile.tile<128x6xf16>
    %b = tile.dequantize %q scales(%f) : !tile.tile<128x192xi4>, !tile.tile<128x6xf16> -> !tile.tile<128x192xf32>
    %r = tile.dot %a, %b transpose_b : !tile.tile<1x192xf32>, !tile.tile<128x192xf32> -> !tile.tile<1x128xf32>
    tile.store %r, %yv[%c0, %j] : !tile.tile<1x128xf32>, !tile.view<1x512xf32>
  }
  return
}
