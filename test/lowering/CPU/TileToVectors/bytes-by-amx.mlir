// RUN: fovea-opt %s --fovea-tile-to-vectors=target=amx | FileCheck %s

// Bytes by registers of matrices: panels hold fours as TDPBUSD reads them. Sums of integers become numbers when all depth is
// summed, less what the zero point has added.

// CHECK-LABEL: @linear
// CHECK: %[[SUMS:.*]] = memref.alloca() {alignment = 64 : i64} : memref<{{.*}}xi32>
// CHECK: "llvm.x86.tilezero"
// CHECK: scf.for %{{.*}} = %c0{{.*}} to %c128{{.*}} step %c64
// CHECK-COUNT-4: "llvm.x86.tdpbusd"
// CHECK: "llvm.x86.tilestored64"
// CHECK: vector.load %{{.*}} : memref<{{.*}}xi32>, vector<16xi32>
// CHECK: arith.addi
// CHECK: arith.sitofp
func.func @linear(%x: memref<?x128xi8>, %w: memref<4x32x16x4xi8>, %y: memref<?x64xf32>) {
  %c0 = arith.constant 0 : index
  %c2 = arith.constant 2 : index
  %c32 = arith.constant 32 : index
  %c64 = arith.constant 64 : index
  %rows = memref.dim %x, %c0 : memref<?x128xi8>
  %blocks = arith.ceildivui %rows, %c64 : index
  tile.kernel grid(%n, %m) = (%c2, %blocks) {
    %i = arith.muli %m, %c64 : index
    %j = arith.muli %n, %c32 : index
    %wv = tile.packed %w : memref<4x32x16x4xi8> -> !tile.view<64x128xi8>
    %q = tile.load %wv[%j, %c0] : !tile.view<64x128xi8> -> !tile.tile<32x128xi8>
    %b = tile.dequantize %q : !tile.tile<32x128xi8> -> !tile.tile<32x128xbf16>
    %xv = tile.view %x axes(0, 1) : memref<?x128xi8> -> !tile.view<?x128xi8>
    %a = tile.load %xv[%i, %c0] : !tile.view<?x128xi8> -> !tile.tile<64x128xi8>
    %s = tile.dot %a, %b transpose_b block(32, 32) : !tile.tile<64x128xi8>, !tile.tile<32x128xbf16> -> !tile.tile<64x32xf32>
    %yv = tile.view %y axes(0, 1) : memref<?x64xf32> -> !tile.view<?x64xf32>
    tile.store %s, %yv[%i, %j] : !tile.tile<64x32xf32>, !tile.view<?x64xf32>
  }
  return
}
