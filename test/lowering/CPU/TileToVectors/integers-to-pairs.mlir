// RUN: fovea-opt %s --pass-pipeline="builtin.module(func.func(fovea-tile-to-vectors{target=avx512bf16}),canonicalize,cse)" | FileCheck %s
// RUN: fovea-opt %s --pass-pipeline="builtin.module(func.func(fovea-tile-to-vectors{target=avx512}),canonicalize,cse)" | FileCheck %s --check-prefix=WIDE

// Integers by inputs of bf16 become pairs once, in front of the loop over rows; where pairs are not
// multiplied they are widened where they are read.

// CHECK-LABEL: @linear
// CHECK: %[[PAIRS:.*]] = memref.alloca() {{.*}} : memref<{{.*}}xi16>
// CHECK: scf.for
// CHECK: %[[BYTES:.*]] = vector.load %{{.*}} : memref<{{.*}}xi8{{.*}}>, vector<64xi8>
// CHECK: %[[WORDS:.*]] = vector.bitcast %[[BYTES]] : vector<64xi8> to vector<16xi32>
// CHECK: arith.shli %[[WORDS]]
// CHECK: arith.shrsi
// CHECK: arith.sitofp
// CHECK: vector.store %{{.*}}, %[[PAIRS]]
// CHECK: scf.for
// CHECK-NOT: arith.sitofp
// CHECK: llvm.call_intrinsic "llvm.x86.avx512bf16.dpbf16ps.512"
// WIDE-LABEL: @linear
// WIDE-NOT: xi16>
// WIDE: scf.for {{.*}} iter_args
// WIDE: arith.sitofp
func.func @linear(%x: memref<?x128xbf16>, %w: memref<2x32x16x4xi8>, %y: memref<?x32xf32>) {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %c8 = arith.constant 8 : index
  %rows = memref.dim %x, %c0 : memref<?x128xbf16>
  tile.kernel grid(%n) = (%c1) {
    %wv = tile.packed %w : memref<2x32x16x4xi8> -> !tile.view<32x128xi8>
    %q = tile.load %wv[%c0, %c0] : !tile.view<32x128xi8> -> !tile.tile<32x128xi8>
    %b = tile.dequantize %q : !tile.tile<32x128xi8> -> !tile.tile<32x128xbf16>
    %xv = tile.view %x axes(0, 1) : memref<?x128xbf16> -> !tile.view<?x128xbf16>
    %yv = tile.view %y axes(0, 1) : memref<?x32xf32> -> !tile.view<?x32xf32>
    scf.for %i = %c0 to %rows step %c8 {
      %a = tile.load %xv[%i, %c0] : !tile.view<?x128xbf16> -> !tile.tile<8x128xbf16>
      %s = tile.dot %a, %b transpose_b block(8, 32) : !tile.tile<8x128xbf16>, !tile.tile<32x128xbf16> -> !tile.tile<8x32xf32>
      tile.store %s, %yv[%i, %c0] : !tile.tile<8x32xf32>, !tile.view<?x32xf32>
    }
  }
  return
}
