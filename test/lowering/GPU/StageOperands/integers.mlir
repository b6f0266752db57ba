// RUN: fovea-opt %s --fovea-stage-operands --verify-diagnostics | FileCheck %s

// Integers become floats on their way to shared memory, with the scales of their groups.
// CHECK-LABEL: func.func private @integers
func.func private @integers(%x: memref<?x192xf32>, %w: memref<16x6x32x16xi8>, %s: memref<16x6x32xf16>, %y: memref<?x512xf32>, %n: index) {
  %c0 = arith.constant 0 : index
  %c8 = arith.constant 8 : index
  %xv = tile.view %x axes(0, 1) : memref<?x192xf32> -> !tile.view<?x192xf32>
  %wv = tile.packed %w : memref<16x6x32x16xi8> -> !tile.view<512x192xi4>
  // CHECK: %[[SCALES:.*]] = tile.packed %{{.*}} : memref<16x6x32xf16> -> !tile.view<512x6xf16>
  %sv = tile.packed %s : memref<16x6x32xf16> -> !tile.view<512x6xf16>
  %yv = tile.view %y axes(0, 1) : memref<?x512xf32> -> !tile.view<?x512xf32>
  tile.kernel grid(%i, %j) = (%n, %c8) {
    // CHECK: %[[W:.*]] = tile.shared : !tile.shared<48x32xf32, strides [1, 52]>
    // CHECK-NOT: tile.load
    // CHECK-NOT: tile.dequantize
    // CHECK: scf.for
    // CHECK: tile.copy %{{.*}}[%{{.*}}, %{{.*}}] scales(%[[SCALES]] : !tile.view<512x6xf16>) to %[[W]] : !tile.view<512x192xi4>, !tile.shared<48x32xf32, strides [1, 52]>
    // CHECK: tile.mma
    %a = tile.load %xv[%i, %c0] : !tile.view<?x192xf32> -> !tile.tile<64x192xf32>
    %q = tile.load %wv[%j, %c0] : !tile.view<512x192xi4> -> !tile.tile<48x192xi4>
    %f = tile.load %sv[%j, %c0] : !tile.view<512x6xf16> -> !tile.tile<48x6xf16>
    %b = tile.dequantize %q scales(%f) : !tile.tile<48x192xi4>, !tile.tile<48x6xf16> -> !tile.tile<48x192xf32>
    %r = tile.dot %a, %b transpose_b : !tile.tile<64x192xf32>, !tile.tile<48x192xf32> -> !tile.tile<64x48xf32>
    tile.store %r, %yv[%i, %j] : !tile.tile<64x48xf32>, !tile.view<?x512xf32>
  }
  return
}
