// RUN: fovea-opt %s --fovea-tile-to-vectors=target=amx | FileCheck %s

// Sums of 2 x 2 registers stay there over the whole depth; the left operand is read as it lies, the
// panels hold pairs as TDPBF16PS reads them. The last rows have registers of fewer rows.

// CHECK-LABEL: @linear
// CHECK: %[[CONFIG:.*]] = memref.alloca() {alignment = 64 : i64} : memref<64xi8>
// CHECK: llvm.call_intrinsic "llvm.x86.ldtilecfg"
// CHECK: scf.parallel
// CHECK: scf.if
// CHECK-COUNT-4: "llvm.x86.tilezero"
// CHECK: scf.for %{{.*}} = %c0{{.*}} to %c128{{.*}} step %c32
// CHECK-COUNT-3: "llvm.x86.tileloadd64"
// CHECK-COUNT-2: "llvm.x86.tdpbf16ps"
// CHECK: "llvm.x86.tileloadd64"
// CHECK-COUNT-2: "llvm.x86.tdpbf16ps"
// CHECK: memref.prefetch
// CHECK-COUNT-4: "llvm.x86.tilestored64"
// CHECK: else
// CHECK: memref.store %{{.*}}, %[[CONFIG]]
// CHECK: "llvm.x86.ldtilecfg"
// CHECK-COUNT-2: "llvm.x86.tilestored64"
// CHECK: "llvm.x86.ldtilecfg"
// CHECK: llvm.call_intrinsic "llvm.x86.tilerelease"
// CHECK-NEXT: return
func.func @linear(%x: memref<?x128xbf16>, %w: memref<4x64x16x2xbf16>, %y: memref<?x64xf32>) {
  %c0 = arith.constant 0 : index
  %c2 = arith.constant 2 : index
  %c32 = arith.constant 32 : index
  %c64 = arith.constant 64 : index
  %rows = memref.dim %x, %c0 : memref<?x128xbf16>
  %blocks = arith.ceildivui %rows, %c64 : index
  tile.kernel grid(%n, %m) = (%c2, %blocks) {
    %i = arith.muli %m, %c64 : index
    %j = arith.muli %n, %c32 : index
    %wv = tile.packed %w : memref<4x64x16x2xbf16> -> !tile.view<64x128xbf16>
    %b = tile.load %wv[%j, %c0] : !tile.view<64x128xbf16> -> !tile.tile<32x128xbf16>
    %xv = tile.view %x axes(0, 1) : memref<?x128xbf16> -> !tile.view<?x128xbf16>
    %a = tile.load %xv[%i, %c0] : !tile.view<?x128xbf16> -> !tile.tile<64x128xbf16>
    %s = tile.dot %a, %b transpose_b block(32, 32) : !tile.tile<64x128xbf16>, !tile.tile<32x128xbf16> -> !tile.tile<64x32xf32>
    %yv = tile.view %y axes(0, 1) : memref<?x64xf32> -> !tile.view<?x64xf32>
    tile.store %s, %yv[%i, %j] : !tile.tile<64x32xf32>, !tile.view<?x64xf32>
  }
  return
}

// What it does not compute goes to the level's other atoms.

// CHECK-LABEL: @of_floats
// CHECK-NOT: llvm.x86
func.func @of_floats(%x: memref<64x128xf32>, %w: memref<4x128x16xf32>, %y: memref<64x64xf32>) {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  tile.kernel grid(%n) = (%c1) {
    %wv = tile.packed %w : memref<4x128x16xf32> -> !tile.view<64x128xf32>
    %b = tile.load %wv[%c0, %c0] : !tile.view<64x128xf32> -> !tile.tile<64x128xf32>
    %xv = tile.view %x axes(0, 1) : memref<64x128xf32> -> !tile.view<64x128xf32>
    %a = tile.load %xv[%c0, %c0] : !tile.view<64x128xf32> -> !tile.tile<64x128xf32>
    %s = tile.dot %a, %b transpose_b block(8, 48) : !tile.tile<64x128xf32>, !tile.tile<64x128xf32> -> !tile.tile<64x64xf32>
    %yv = tile.view %y axes(0, 1) : memref<64x64xf32> -> !tile.view<64x64xf32>
    tile.store %s, %yv[%c0, %c0] : !tile.tile<64x64xf32>, !tile.view<64x64xf32>
  }
  return
}
