// RUN: fovea-opt %s --pass-pipeline="builtin.module(func.func(fovea-tile-to-vectors{target=avx512bf16}),canonicalize,cse)" | FileCheck %s
// RUN: fovea-opt %s --pass-pipeline="builtin.module(func.func(fovea-tile-to-vectors{target=aarch64-dotprod}),canonicalize,cse)" | FileCheck %s --check-prefix=SIGNED

// Of a single row the factors of 256 inputs, f16, are loaded once, the scales' with the sixteenth that is due to nibbles; the
// groups of 32 inside multiply their own of eight bits by them. What a block needs next is fetched once; weights, and factors of
// groups, between words, not all at once.

// CHECK-LABEL: @linear
// CHECK: %[[PART:.*]] = arith.constant dense<6.250000e-02> : vector<16xf32>
// CHECK: scf.for %[[K:.*]] = %c0 to %c512 step %c256 iter_args
// CHECK: arith.extf %{{.*}} : vector<16xf16> to vector<16xf32>
// CHECK: arith.extf %{{.*}} : vector<16xf16> to vector<16xf32>
// CHECK: %[[SCALE:.*]] = arith.mulf %{{.*}}, %[[PART]] : vector<16xf32>
// CHECK-NOT: memref.prefetch {{.*}}xi8, strided
// CHECK-COUNT-2: memref.prefetch {{.*}}xf16, strided
// CHECK: %[[END:.*]] = arith.addi %[[K]], %c256
// CHECK: scf.for %{{.*}} = %[[K]] to %[[END]] step %c32 iter_args
// CHECK: llvm.call_intrinsic "llvm.x86.avx512.vpdpbusd.512"
// CHECK: llvm.fence syncscope("singlethread") acq_rel
// CHECK: memref.prefetch {{.*}}xi8, strided<[1]>>
// CHECK-COUNT-2: memref.prefetch {{.*}}xi8, strided<[1], offset
// CHECK: arith.mulf %{{.*}}, %[[SCALE]] : vector<16xf32>
// CHECK: llvm.intr.fmuladd
// CHECK-NOT: arith.extf
// CHECK-NOT: memref.prefetch

// Signed rows have too few registers for them.
// SIGNED-LABEL: @linear
// SIGNED-NOT: llvm.fence
// SIGNED: scf.for %{{.*}} = %c0 to %c512 step %c32 iter_args
// SIGNED: arith.extf %{{.*}} : vector<4xf16> to vector<4xf32>
func.func @linear(%x: memref<?x512xi8>, %w: memref<1x19456xi8>, %y: memref<?x16xf32>) {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %rows = memref.dim %x, %c0 : memref<?x512xi8>
  %flat = memref.collapse_shape %w [[0, 1]] : memref<1x19456xi8> into memref<19456xi8>
  %codes = memref.reinterpret_cast %flat to offset: [0], sizes: [1, 64, 16, 4], strides: [19456, 64, 4, 1]
      : memref<19456xi8> to memref<1x64x16x4xi8, strided<[19456, 64, 4, 1]>>
  %scales = memref.reinterpret_cast %flat to offset: [4096], sizes: [1, 16, 16], strides: [19456, 16, 1]
      : memref<19456xi8> to memref<1x16x16xi8, strided<[19456, 16, 1], offset: 4096>>
  %least = memref.reinterpret_cast %flat to offset: [4352], sizes: [1, 16, 16], strides: [19456, 16, 1]
      : memref<19456xi8> to memref<1x16x16xi8, strided<[19456, 16, 1], offset: 4352>>
  %halves = memref.view %flat[%c0][] : memref<19456xi8> to memref<9728xf16>
  %d = memref.reinterpret_cast %halves to offset: [2304], sizes: [1, 2, 16], strides: [9728, 16, 1]
      : memref<9728xf16> to memref<1x2x16xf16, strided<[9728, 16, 1], offset: 2304>>
  %m = memref.reinterpret_cast %halves to offset: [2336], sizes: [1, 2, 16], strides: [9728, 16, 1]
      : memref<9728xf16> to memref<1x2x16xf16, strided<[9728, 16, 1], offset: 2336>>
  tile.kernel grid(%n) = (%c1) {
    %wv = tile.packed %codes : memref<1x64x16x4xi8, strided<[19456, 64, 4, 1]>> -> !tile.view<16x512xi4>
    %q = tile.load %wv[%c0, %c0] : !tile.view<16x512xi4> -> !tile.tile<16x512xi4>
    %sv = tile.packed %scales : memref<1x16x16xi8, strided<[19456, 16, 1], offset: 4096>> -> !tile.view<16x16xi8>
    %s = tile.load %sv[%c0, %c0] : !tile.view<16x16xi8> -> !tile.tile<16x16xi8>
    %lv = tile.packed %least : memref<1x16x16xi8, strided<[19456, 16, 1], offset: 4352>> -> !tile.view<16x16xi8>
    %l = tile.load %lv[%c0, %c0] : !tile.view<16x16xi8> -> !tile.tile<16x16xi8>
    %dv = tile.packed %d : memref<1x2x16xf16, strided<[9728, 16, 1], offset: 2304>> -> !tile.view<16x2xf16>
    %df = tile.load %dv[%c0, %c0] : !tile.view<16x2xf16> -> !tile.tile<16x2xf16>
    %mv = tile.packed %m : memref<1x2x16xf16, strided<[9728, 16, 1], offset: 2336>> -> !tile.view<16x2xf16>
    %mf = tile.load %mv[%c0, %c0] : !tile.view<16x2xf16> -> !tile.tile<16x2xf16>
    %a = tile.dequantize %s scales(%df) : !tile.tile<16x16xi8>, !tile.tile<16x2xf16> -> !tile.tile<16x16xf32>
    %o = tile.dequantize %l scales(%mf) : !tile.tile<16x16xi8>, !tile.tile<16x2xf16> -> !tile.tile<16x16xf32>
    %b = tile.dequantize %q bias 8 scales(%a) offsets(%o)
        : !tile.tile<16x512xi4>, !tile.tile<16x16xf32> offsets !tile.tile<16x16xf32> -> !tile.tile<16x512xf32>
    %xv = tile.view %x axes(0, 1) : memref<?x512xi8> -> !tile.view<?x512xi8>
    %yv = tile.view %y axes(0, 1) : memref<?x16xf32> -> !tile.view<?x16xf32>
    scf.for %i = %c0 to %rows step %c1 {
      %r = tile.load %xv[%i, %c0] : !tile.view<?x512xi8> -> !tile.tile<1x512xi8>
      %t = tile.dot %r, %b transpose_b block(1, 16) : !tile.tile<1x512xi8>, !tile.tile<16x512xf32> -> !tile.tile<1x16xf32>
      tile.store %t, %yv[%i, %c0] : !tile.tile<1x16xf32>, !tile.view<?x16xf32>
    }
  }
  return
}
