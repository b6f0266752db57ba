// RUN: fovea-opt %s --fovea-stage-operands --verify-diagnostics

func.func private @few_bits(%x: memref<?x192xf32>, %w: memref<32x36x16x4xi8>, %s: memref<32x6x16xf16>, %y: memref<?x512xf32>, %n: index) {
  %c0 = arith.constant 0 : index
  %xv = tile.view %x axes(0, 1) : memref<?x192xf32> -> !tile.view<?x192xf32>
  %wv = tile.packed %w : memref<32x36x16x4xi8> -> !tile.view<512x192xi6>
  %sv = tile.packed %s : memref<32x6x16xf16> -> !tile.view<512x6xf16>
  %yv = tile.view %y axes(0, 1) : memref<?x512xf32> -> !tile.view<?x512xf32>
  tile.kernel grid(%i, %j) = (%n, %n) {
    %a = tile.load %xv[%i, %c0] : !tile.view<?x192xf32> -> !tile.tile<64x192xf32>
    %q = tile.load %wv[%j, %c0] : !tile.view<512x192xi6> -> !tile.tile<48x192xi6>
    %f = tile.load %sv[%j, %c0] : !tile.view<512x6xf16> -> !tile.tile<48x6xf16>
    // expected-error @below {{expects i4 or i8 without a table, since code for GPUs reads no other integers yet}}
    %b = tile.dequantize %q scales(%f) : !tile.tile<48x192xi6>, !tile.tile<48x6xf16> -> !tile.tile<48x192xf32>
    %r = tile.dot %a, %b transpose_b : !tile.tile<64x192xf32>, !tile.tile<48x192xf32> -> !tile.tile<64x48xf32>
    tile.store %r, %yv[%i, %j] : !tile.tile<64x48xf32>, !tile.view<?x512xf32>
  }
  return
}
