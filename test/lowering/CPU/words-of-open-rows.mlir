// RUN: fovea-opt %s --pass-pipeline='builtin.module(func.func(fovea-tile-to-vectors{target=avx512}))' | FileCheck %s

// Rows that surely have all columns of a tile are turned in words of two; what may end within it is read under a mask.

// CHECK-LABEL: func.func @whole
// CHECK: vector.load {{.*}} : memref<?xbf16>, vector<32xbf16>
// CHECK-NOT: vector.maskedload
// CHECK: return
func.func @whole(%a: memref<8x64xf32>, %b: memref<32x64xbf16>, %y: memref<8x32xf32>) {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  tile.kernel grid(%i) = (%c1) {
    %va = tile.view %a axes(0, 1) : memref<8x64xf32> -> !tile.view<8x64xf32>
    %vb = tile.view %b axes(0, 1) : memref<32x64xbf16> -> !tile.view<32x64xbf16>
    %vy = tile.view %y axes(0, 1) : memref<8x32xf32> -> !tile.view<8x32xf32>
    %ta = tile.load %va[%c0, %c0] : !tile.view<8x64xf32> -> !tile.tile<8x64xf32>
    %tb = tile.load %vb[%c0, %c0] : !tile.view<32x64xbf16> -> !tile.tile<32x64xbf16>
    %d = tile.dot %ta, %tb transpose_b : !tile.tile<8x64xf32>, !tile.tile<32x64xbf16> -> !tile.tile<8x32xf32>
    tile.store %d, %vy[%c0, %c0] : !tile.tile<8x32xf32>, !tile.view<8x32xf32>
  }
  return
}

// CHECK-LABEL: func.func @part
// CHECK: vector.maskedload {{.*}} : memref<?xbf16>, vector<16xi1>, vector<16xbf16> into vector<16xbf16>
// CHECK: return
func.func @part(%a: memref<8x?xf32>, %b: memref<32x?xbf16>, %y: memref<8x32xf32>) {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  tile.kernel grid(%i) = (%c1) {
    %va = tile.view %a axes(0, 1) : memref<8x?xf32> -> !tile.view<8x?xf32>
    %vb = tile.view %b axes(0, 1) : memref<32x?xbf16> -> !tile.view<32x?xbf16>
    %vy = tile.view %y axes(0, 1) : memref<8x32xf32> -> !tile.view<8x32xf32>
    %ta = tile.load %va[%c0, %c0] : !tile.view<8x?xf32> -> !tile.tile<8x64xf32>
    %tb = tile.load %vb[%c0, %c0] : !tile.view<32x?xbf16> -> !tile.tile<32x64xbf16>
    %d = tile.dot %ta, %tb transpose_b : !tile.tile<8x64xf32>, !tile.tile<32x64xbf16> -> !tile.tile<8x32xf32>
    tile.store %d, %vy[%c0, %c0] : !tile.tile<8x32xf32>, !tile.view<8x32xf32>
  }
  return
}
