// RUN: fovea-opt %s --verify-roundtrip | FileCheck %s

// A weight of i4 whose groups of 32 along k have a scale each, as a processor has it: two k in a byte.
// CHECK-LABEL: func.func private @dequantize
func.func private @dequantize(%x: !tile.view<?x192xf32>, %w: memref<32x96x16xi8>, %s: memref<32x6x16xf16>, %b: memref<32x192x16xi8>, %y: !tile.view<?x512xf32>, %i: index) {
  %c0 = arith.constant 0 : index
  // CHECK: %[[W:.*]] = tile.packed %{{.*}} : memref<32x96x16xi8> -> !tile.view<512x192xi4>
  %wv = tile.packed %w : memref<32x96x16xi8> -> !tile.view<512x192xi4>
  %sv = tile.packed %s : memref<32x6x16xf16> -> !tile.view<512x6xf16>
  // CHECK: %[[B:.*]] = tile.packed %{{.*}} : memref<32x192x16xi8> -> !tile.view<512x192xi8>
  %bv = tile.packed %b : memref<32x192x16xi8> -> !tile.view<512x192xi8>
  %a = tile.load %x[%c0, %c0] : !tile.view<?x192xf32> -> !tile.tile<64x192xf32>
  // CHECK: %[[Q:.*]] = tile.load %[[W]]
  %q = tile.load %wv[%i, %c0] : !tile.view<512x192xi4> -> !tile.tile<48x192xi4>
  %f = tile.load %sv[%i, %c0] : !tile.view<512x6xf16> -> !tile.tile<48x6xf16>
  // CHECK: tile.dequantize %[[Q]] scales(%{{.*}}) : !tile.tile<48x192xi4>, !tile.tile<48x6xf16> -> !tile.tile<48x192xf32>
  %n = tile.dequantize %q scales(%f) : !tile.tile<48x192xi4>, !tile.tile<48x6xf16> -> !tile.tile<48x192xf32>
  %r = tile.dot %a, %n transpose_b : !tile.tile<64x192xf32>, !tile.tile<48x192xf32> -> !tile.tile<64x48xf32>
  // CHECK: %[[P:.*]] = tile.load %[[B]]
  %p = tile.load %bv[%i, %c0] : !tile.view<512x192xi8> -> !tile.tile<48x192xi8>
  // CHECK: tile.dequantize %[[P]] : !tile.tile<48x192xi8> -> !tile.tile<48x192xbf16>
  %m = tile.dequantize %p : !tile.tile<48x192xi8> -> !tile.tile<48x192xbf16>
  %t = tile.dot %a, %m transpose_b into %r : !tile.tile<64x192xf32>, !tile.tile<48x192xbf16> -> !tile.tile<64x48xf32>
  tile.store %t, %y[%c0, %i] : !tile.tile<64x48xf32>, !tile.view<?x512xf32>
  return
}

// Scales and offsets may be integers times scales in turn.
func.func private @blocks(%q: !tile.tile<48x512xi4>, %s: !tile.tile<48x16xi8>, %d: !tile.tile<48x2xf16>) {
  %0 = tile.dequantize %s scales(%d) : !tile.tile<48x16xi8>, !tile.tile<48x2xf16> -> !tile.tile<48x16xf32>
  %1 = tile.dequantize %q bias 8 scales(%0) offsets(%0) : !tile.tile<48x512xi4>, !tile.tile<48x16xf32> offsets !tile.tile<48x16xf32> -> !tile.tile<48x512xf32>
  return
}

// Numbers of a table's entries, and integers that are neither bytes nor halves of them.
func.func private @table(%q: !tile.tile<48x512xi4>, %s: !tile.tile<48x32xf32>) {
  // CHECK: tile.dequantize %{{.*}} table [0, 1, 2, 3, 4, 6, 8, 12, 0, -1, -2, -3, -4, -6, -8, -12] scales(%{{.*}}) : !tile.tile<48x512xi4>
  %0 = tile.dequantize %q table [0, 1, 2, 3, 4, 6, 8, 12, 0, -1, -2, -3, -4, -6, -8, -12] scales(%s) : !tile.tile<48x512xi4>, !tile.tile<48x32xf32> -> !tile.tile<48x512xf32>
  return
}

func.func private @few_bits(%w: memref<4x24x16x4xi8>, %s: !tile.tile<48x8xf32>) {
  %c0 = arith.constant 0 : index
  // CHECK: tile.packed %{{.*}} : memref<4x24x16x4xi8> -> !tile.view<64x128xi6>
  %v = tile.packed %w : memref<4x24x16x4xi8> -> !tile.view<64x128xi6>
  // CHECK: tile.load %{{.*}} : !tile.view<64x128xi6> -> !tile.tile<48x128xi6>
  %q = tile.load %v[%c0, %c0] : !tile.view<64x128xi6> -> !tile.tile<48x128xi6>
  // CHECK: tile.dequantize %{{.*}} scales(%{{.*}}) : !tile.tile<48x128xi6>
  %0 = tile.dequantize %q scales(%s) : !tile.tile<48x128xi6>, !tile.tile<48x8xf32> -> !tile.tile<48x128xf32>
  return
}

// Rows of bytes with the sums of their groups, which offsets are multiplied by.
func.func private @sums(%x: !tile.tile<4x512xi8>, %g: !tile.tile<4x16xf32>, %w: !tile.tile<48x512xf32>, %c: !tile.tile<4x48xf32>) {
  // CHECK: tile.dot %{{.*}}, %{{.*}} transpose_b into %{{.*}} sums(%{{.*}}) block(4, 48) : !tile.tile<4x512xi8>, !tile.tile<48x512xf32> sums !tile.tile<4x16xf32> -> !tile.tile<4x48xf32>
  %0 = tile.dot %x, %w transpose_b into %c sums(%g) block(4, 48) : !tile.tile<4x512xi8>, !tile.tile<48x512xf32> sums !tile.tile<4x16xf32> -> !tile.tile<4x48xf32>
  return
}
