// RUN: fovea-opt %s --fovea-stage-operands --verify-diagnostics
// RUN: fovea-opt %s --fovea-stage-operands=chunk-bytes=4096 --verify-diagnostics

func.func private @parts_of_integers(%x: memref<?x192xf32>, %w: memref<16x6x32x16xi8>, %y: memref<?x512xf32>, %n: index) {
  %c32 = arith.constant 32 : index
  %one = arith.constant 1.0 : f16
  %xv = tile.view %x axes(0, 1) : memref<?x192xf32> -> !tile.view<?x192xf32>
  %wv = tile.packed %w : memref<16x6x32x16xi8> -> !tile.view<512x192xi4>
  %yv = tile.view %y axes(0, 1) : memref<?x512xf32> -> !tile.view<?x512xf32>
  tile.kernel grid(%i, %j) = (%n, %n) {
    %a = tile.load %xv[%i, %c32] : !tile.view<?x192xf32> -> !tile.tile<64x96xf32>
    %q = tile.load %wv[%j, %c32] : !tile.view<512x192xi4> -> !tile.tile<48x96xi4>
    %s = tile.splat %one : !tile.tile<48x3xf16>
    // expected-error @below {{expects whole rows of integers, and of scales, that tile.load gives, and to be the right operand of products with transpose_b}}
    %b = tile.dequantize %q scales(%s) : !tile.tile<48x96xi4>, !tile.tile<48x3xf16> -> !tile.tile<48x96xf32>
    %r = tile.dot %a, %b transpose_b : !tile.tile<64x96xf32>, !tile.tile<48x96xf32> -> !tile.tile<64x48xf32>
    tile.store %r, %yv[%i, %j] : !tile.tile<64x48xf32>, !tile.view<?x512xf32>
  }
  return
}
