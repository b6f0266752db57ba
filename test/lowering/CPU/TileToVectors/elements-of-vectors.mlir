// RUN: fovea-opt %s --pass-pipeline="builtin.module(func.func(fovea-tile-to-vectors{target=aarch64-i8mm}),canonicalize,cse)" | FileCheck %s --check-prefixes=CHECK,MIXED
// RUN: fovea-opt %s --pass-pipeline="builtin.module(func.func(fovea-tile-to-vectors{target=aarch64-dotprod}),canonicalize,cse)" | FileCheck %s --check-prefixes=CHECK,SIGNED
// RUN: fovea-opt %s --pass-pipeline="builtin.module(func.func(fovea-tile-to-vectors{target=aarch64}),canonicalize,cse)" | FileCheck %s --check-prefixes=CHECK,PLAIN

// NEON multiplies by an element of a vector: of each row four words are one load, and one of them goes to all lanes by a
// shuffle, which is part of the product. What is left of the depth, one k here, is loaded by itself.
// CHECK-LABEL: func.func @floats
// CHECK: scf.for {{.*}} iter_args({{.*}}) -> (vector<4xf32>, vector<4xf32>, vector<4xf32>, vector<4xf32>)
// CHECK-COUNT-2: vector.load %{{.*}} : memref<{{.*}}>, vector<4xf32>
// CHECK: vector.load %{{.*}} vector<4xf32>
// CHECK: vector.shuffle %{{.*}}, %{{.*}} [0, 0, 0, 0] : vector<4xf32>, vector<4xf32>
// CHECK: vector.shuffle %{{.*}}, %{{.*}} [3, 3, 3, 3] : vector<4xf32>, vector<4xf32>
// CHECK: scf.yield
// CHECK: vector.broadcast %{{.*}} : f32 to vector<4xf32>
func.func @floats(%x: memref<?x33xf32>, %w: memref<2x33x16xf32>, %y: memref<?x16xf32>, %c1: index) {
  %c0 = arith.constant 0 : index
  %xv = tile.view %x axes(0, 1) : memref<?x33xf32> -> !tile.view<?x33xf32>
  %wv = tile.packed %w : memref<2x33x16xf32> -> !tile.view<32x33xf32>
  %yv = tile.view %y axes(0, 1) : memref<?x16xf32> -> !tile.view<?x16xf32>
  tile.kernel grid(%i) = (%c1) {
    %a = tile.load %xv[%c0, %c0] : !tile.view<?x33xf32> -> !tile.tile<8x33xf32>
    %b = tile.load %wv[%c0, %c0] : !tile.view<32x33xf32> -> !tile.tile<16x33xf32>
    %s = tile.dot %a, %b transpose_b block(2, 8) : !tile.tile<8x33xf32>, !tile.tile<16x33xf32> -> !tile.tile<8x16xf32>
    tile.store %s, %yv[%c0, %c0] : !tile.tile<8x16xf32>, !tile.view<?x16xf32>
  }
  return
}

// Pairs of bf16, two words of two rows by those of two outputs; without such instructions the row is widened before.
// CHECK-LABEL: func.func @pairs
// MIXED: scf.for {{.*}} iter_args
// MIXED-COUNT-2: vector.load %{{.*}} vector<4xbf16>
// MIXED: %[[ROWS:.*]] = vector.shuffle %{{.*}}, %{{.*}} [0, 1, 2, 3, 4, 5, 6, 7] : vector<4xbf16>, vector<4xbf16>
// MIXED: %[[FIRST:.*]] = vector.load %{{.*}} vector<8xbf16>
// MIXED: %[[SECOND:.*]] = vector.load %{{.*}} vector<8xbf16>
// MIXED: %[[OUTPUTS:.*]] = vector.shuffle %[[FIRST]], %[[SECOND]] [0, 1, 8, 9, 2, 3, 10, 11]
// MIXED: llvm.call_intrinsic "llvm.aarch64.neon.bfmmla"(%{{.*}}, %[[ROWS]], %[[OUTPUTS]])
// MIXED: vector.shuffle %[[FIRST]], %[[SECOND]] [4, 5, 12, 13, 6, 7, 14, 15]
// MIXED: scf.yield
// Sums of a row are the halves of two matrices.
// MIXED: vector.shuffle %{{.*}}, %{{.*}} [0, 1, 4, 5] : vector<4xf32>, vector<4xf32>
// MIXED: vector.shuffle %{{.*}}, %{{.*}} [2, 3, 6, 7] : vector<4xf32>, vector<4xf32>
// SIGNED-NOT: call_intrinsic
// PLAIN-NOT: call_intrinsic
func.func @pairs(%x: memref<?x64xbf16>, %w: memref<1x32x16x2xbf16>, %y: memref<?x16xf32>, %c1: index) {
  %c0 = arith.constant 0 : index
  %xv = tile.view %x axes(0, 1) : memref<?x64xbf16> -> !tile.view<?x64xbf16>
  %wv = tile.packed %w : memref<1x32x16x2xbf16> -> !tile.view<16x64xbf16>
  %yv = tile.view %y axes(0, 1) : memref<?x16xf32> -> !tile.view<?x16xf32>
  tile.kernel grid(%i) = (%c1) {
    %a = tile.load %xv[%c0, %c0] : !tile.view<?x64xbf16> -> !tile.tile<8x64xbf16>
    %b = tile.load %wv[%c0, %c0] : !tile.view<16x64xbf16> -> !tile.tile<16x64xbf16>
    %s = tile.dot %a, %b transpose_b block(2, 16) : !tile.tile<8x64xbf16>, !tile.tile<16x64xbf16> -> !tile.tile<8x16xf32>
    tile.store %s, %yv[%c0, %c0] : !tile.tile<8x16xf32>, !tile.view<?x16xf32>
  }
  return
}

// Bytes: unsigned rows by signed weights. SDOT multiplies signed ones alone: the zero point is taken off the row, and what it adds,
// which the sums begin with, is nothing.
// CHECK-LABEL: func.func @bytes
// MIXED: llvm.call_intrinsic "llvm.aarch64.neon.usdot.v4i32.v16i8"(%{{.*}}, %{{.*}}, %{{.*}})
// MIXED: scf.for
// MIXED: llvm.call_intrinsic "llvm.aarch64.neon.usmmla.v4i32.v16i8"(%{{.*}}, %{{.*}}, %{{.*}})
// MIXED-NOT: usdot
// SIGNED: %[[WORD:.*]] = vector.shuffle %{{.*}} [0, 0, 0, 0] : vector<4xi32>, vector<4xi32>
// SIGNED: %[[SHIFTED:.*]] = arith.xori %[[WORD]], %{{.*}} : vector<4xi32>
// SIGNED: %[[BYTES:.*]] = vector.bitcast %[[SHIFTED]] : vector<4xi32> to vector<16xi8>
// SIGNED: llvm.call_intrinsic "llvm.aarch64.neon.sdot.v4i32.v16i8"(%{{.*}}, %{{.*}}, %[[BYTES]])
// PLAIN-NOT: call_intrinsic
func.func @bytes(%x: memref<?x128xi8>, %w: memref<1x32x16x4xi8>, %y: memref<?x16xf32>) {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %c8 = arith.constant 8 : index
  %rows = memref.dim %x, %c0 : memref<?x128xi8>
  tile.kernel grid(%n) = (%c1) {
    %wv = tile.packed %w : memref<1x32x16x4xi8> -> !tile.view<16x128xi8>
    %q = tile.load %wv[%c0, %c0] : !tile.view<16x128xi8> -> !tile.tile<16x128xi8>
    %b = tile.dequantize %q : !tile.tile<16x128xi8> -> !tile.tile<16x128xf32>
    %xv = tile.view %x axes(0, 1) : memref<?x128xi8> -> !tile.view<?x128xi8>
    %yv = tile.view %y axes(0, 1) : memref<?x16xf32> -> !tile.view<?x16xf32>
    scf.for %i = %c0 to %rows step %c8 {
      %a = tile.load %xv[%i, %c0] : !tile.view<?x128xi8> -> !tile.tile<8x128xi8>
      %t = tile.dot %a, %b transpose_b block(4, 16) : !tile.tile<8x128xi8>, !tile.tile<16x128xf32> -> !tile.tile<8x16xf32>
      tile.store %t, %yv[%i, %c0] : !tile.tile<8x16xf32>, !tile.view<?x16xf32>
    }
  }
  return
}

// One row by nibbles in groups of 32: SDOT on all levels that have it, since signed rows need no zero point. Sixteen times what
// nibbles stand for, so that no product shifts them down, and four bits are behind the point when sums become numbers.
// CHECK-LABEL: func.func @nibbles
// MIXED-COUNT-2: arith.xori %{{.*}} : vector<16xi8>
// SIGNED-COUNT-2: arith.xori %{{.*}} : vector<16xi8>
// MIXED: vector.shuffle %{{.*}} [0, 2, 4, 6, 8, 10, 12, 14, 16, 18, 20, 22, 24, 26, 28, 30] : vector<16xi8>, vector<16xi8>
// All words of one vector of outputs, then those of the next.
// MIXED-COUNT-8: llvm.call_intrinsic "llvm.aarch64.neon.sdot.v4i32.v16i8"
// MIXED-NOT: {{usdot|arith.subi}}
// MIXED: llvm.call_intrinsic "llvm.aarch64.neon.vcvtfxs2fp.v4f32.v4i32"
// SIGNED-COUNT-8: llvm.call_intrinsic "llvm.aarch64.neon.sdot.v4i32.v16i8"
// SIGNED: llvm.call_intrinsic "llvm.aarch64.neon.vcvtfxs2fp.v4f32.v4i32"
// PLAIN-NOT: call_intrinsic
func.func @nibbles(%x: memref<1x64xi8>, %w: memref<1x8x16x4xi8>, %s: memref<1x2x16xf16>, %y: memref<1x16xf32>) {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %wv = tile.packed %w : memref<1x8x16x4xi8> -> !tile.view<16x64xi4>
  %sv = tile.packed %s : memref<1x2x16xf16> -> !tile.view<16x2xf16>
  %xv = tile.view %x axes(0, 1) : memref<1x64xi8> -> !tile.view<1x64xi8>
  %yv = tile.view %y axes(0, 1) : memref<1x16xf32> -> !tile.view<1x16xf32>
  tile.kernel grid(%n) = (%c1) {
    %a = tile.load %xv[%c0, %c0] : !tile.view<1x64xi8> -> !tile.tile<1x64xi8>
    %q = tile.load %wv[%c0, %c0] : !tile.view<16x64xi4> -> !tile.tile<16x64xi4>
    %f = tile.load %sv[%c0, %c0] : !tile.view<16x2xf16> -> !tile.tile<16x2xf16>
    %b = tile.dequantize %q scales(%f) : !tile.tile<16x64xi4>, !tile.tile<16x2xf16> -> !tile.tile<16x64xf32>
    %t = tile.dot %a, %b transpose_b block(1, 8) : !tile.tile<1x64xi8>, !tile.tile<16x64xf32> -> !tile.tile<1x16xf32>
    tile.store %t, %yv[%c0, %c0] : !tile.tile<1x16xf32>, !tile.view<1x16xf32>
  }
  return
}
