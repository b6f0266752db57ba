// RUN: fovea-opt %s --pass-pipeline='builtin.module(func.func(fovea-tile-to-vectors{target=avx512}))' | FileCheck %s
// RUN: fovea-opt %s --pass-pipeline='builtin.module(func.func(fovea-tile-to-vectors{target=avx2}))' | FileCheck %s --check-prefix=AVX2

// One row by rows of memory: each product is summed across lanes, sixteen of them by four steps, and no row is turned into
// a buffer. Steps between units of four lanes take halves one behind the other, those within a unit what one shuffle gives.

// CHECK-LABEL: func.func @one
// CHECK-COUNT-16: llvm.intr.fmuladd
// CHECK:         vector.shuffle %[[A:[^ ,]*]], %[[B:[^ ,]*]] [0, 1, 2, 3, 4, 5, 6, 7, 16, 17, 18, 19, 20, 21, 22, 23]
// CHECK-NEXT:    vector.shuffle %[[A]], %[[B]] [8, 9, 10, 11, 12, 13, 14, 15, 24, 25, 26, 27, 28, 29, 30, 31]
// CHECK-NEXT:    arith.addf
// CHECK:         vector.shuffle {{.*}} [0, 1, 2, 3, 8, 9, 10, 11, 16, 17, 18, 19, 24, 25, 26, 27]
// CHECK-COUNT-48: llvm.intr.fmuladd
// CHECK:         vector.shuffle {{.*}} [0, 1, 16, 17, 4, 5, 20, 21, 8, 9, 24, 25, 12, 13, 28, 29]
// CHECK:         vector.shuffle {{.*}} [0, 2, 16, 18, 4, 6, 20, 22, 8, 10, 24, 26, 12, 14, 28, 30]
// CHECK-NOT:     {{arith.mulf|fmuladd}}
// CHECK:         return
// AVX2-LABEL: func.func @one
// AVX2:          vector.shuffle {{.*}} [0, 1, 2, 3, 8, 9, 10, 11] : vector<8xf32>, vector<8xf32>
// AVX2:          vector.shuffle {{.*}} [0, 1, 8, 9, 4, 5, 12, 13] : vector<8xf32>, vector<8xf32>
func.func @one(%a: memref<1x64xf32>, %b: memref<32x64xf32>, %y: memref<1x32xf32>) {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  tile.kernel grid(%i) = (%c1) {
    %va = tile.view %a axes(0, 1) : memref<1x64xf32> -> !tile.view<1x64xf32>
    %vb = tile.view %b axes(0, 1) : memref<32x64xf32> -> !tile.view<32x64xf32>
    %vy = tile.view %y axes(0, 1) : memref<1x32xf32> -> !tile.view<1x32xf32>
    %ta = tile.load %va[%c0, %c0] : !tile.view<1x64xf32> -> !tile.tile<1x64xf32>
    %tb = tile.load %vb[%c0, %c0] : !tile.view<32x64xf32> -> !tile.tile<32x64xf32>
    %d = tile.dot %ta, %tb transpose_b : !tile.tile<1x64xf32>, !tile.tile<32x64xf32> -> !tile.tile<1x32xf32>
    tile.store %d, %vy[%c0, %c0] : !tile.tile<1x32xf32>, !tile.view<1x32xf32>
  }
  return
}

// Narrow elements are widened as they are read.
// CHECK-LABEL: func.func @narrow
// CHECK:         vector.load {{.*}} : memref<?xbf16>, vector<16xbf16>
// CHECK:         arith.extf {{.*}} : vector<16xbf16> to vector<16xf32>
// CHECK:         llvm.intr.fmuladd
// CHECK:         return
func.func @narrow(%a: memref<1x64xf32>, %b: memref<32x64xbf16>, %y: memref<1x32xf32>) {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  tile.kernel grid(%i) = (%c1) {
    %va = tile.view %a axes(0, 1) : memref<1x64xf32> -> !tile.view<1x64xf32>
    %vb = tile.view %b axes(0, 1) : memref<32x64xbf16> -> !tile.view<32x64xbf16>
    %vy = tile.view %y axes(0, 1) : memref<1x32xf32> -> !tile.view<1x32xf32>
    %ta = tile.load %va[%c0, %c0] : !tile.view<1x64xf32> -> !tile.tile<1x64xf32>
    %tb = tile.load %vb[%c0, %c0] : !tile.view<32x64xbf16> -> !tile.tile<32x64xbf16>
    %d = tile.dot %ta, %tb transpose_b : !tile.tile<1x64xf32>, !tile.tile<32x64xbf16> -> !tile.tile<1x32xf32>
    tile.store %d, %vy[%c0, %c0] : !tile.tile<1x32xf32>, !tile.view<1x32xf32>
  }
  return
}

// Rows of an open end are computed as the last one past it. Three rows are two walks over those in memory: the sums of more
// than two would leave the registers.
// CHECK-LABEL: func.func @open
// CHECK:         scf.if
// CHECK-COUNT-2: scf.for %{{.*}} = %c0{{.*}} to %c32{{.*}} step %c16
// CHECK:         else
// CHECK:         scf.for %{{.*}} = %c0{{.*}} to %c32{{.*}} step %c16
// CHECK:         arith.minsi
func.func @open(%a: memref<3x32xf32>, %b: memref<?x32xf32>, %y: memref<3x?xf32>) {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  tile.kernel grid(%i) = (%c1) {
    %va = tile.view %a axes(0, 1) : memref<3x32xf32> -> !tile.view<3x32xf32>
    %vb = tile.view %b axes(0, 1) : memref<?x32xf32> -> !tile.view<?x32xf32>
    %vy = tile.view %y axes(0, 1) : memref<3x?xf32> -> !tile.view<3x?xf32>
    %ta = tile.load %va[%c0, %c0] : !tile.view<3x32xf32> -> !tile.tile<3x32xf32>
    %tb = tile.load %vb[%c0, %c0] : !tile.view<?x32xf32> -> !tile.tile<32x32xf32>
    %d = tile.dot %ta, %tb transpose_b : !tile.tile<3x32xf32>, !tile.tile<32x32xf32> -> !tile.tile<3x32xf32>
    tile.store %d, %vy[%c0, %c0] : !tile.tile<3x32xf32>, !tile.view<3x?xf32>
  }
  return
}

// Of many rows the other operand is turned once.
// CHECK-LABEL: func.func @many
// CHECK-NOT:     [0, 1, 2, 3, 8, 9, 10, 11, 16, 17, 18, 19, 24, 25, 26, 27]
// CHECK:         return
func.func @many(%a: memref<8x64xf32>, %b: memref<32x64xf32>, %y: memref<8x32xf32>) {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  tile.kernel grid(%i) = (%c1) {
    %va = tile.view %a axes(0, 1) : memref<8x64xf32> -> !tile.view<8x64xf32>
    %vb = tile.view %b axes(0, 1) : memref<32x64xf32> -> !tile.view<32x64xf32>
    %vy = tile.view %y axes(0, 1) : memref<8x32xf32> -> !tile.view<8x32xf32>
    %ta = tile.load %va[%c0, %c0] : !tile.view<8x64xf32> -> !tile.tile<8x64xf32>
    %tb = tile.load %vb[%c0, %c0] : !tile.view<32x64xf32> -> !tile.tile<32x64xf32>
    %d = tile.dot %ta, %tb transpose_b : !tile.tile<8x64xf32>, !tile.tile<32x64xf32> -> !tile.tile<8x32xf32>
    tile.store %d, %vy[%c0, %c0] : !tile.tile<8x32xf32>, !tile.view<8x32xf32>
  }
  return
}

// Where a loop walks the rows, what its next turn reads is fetched into the second-level cache: 16 rows of 64 are 1,024 elements on.
// CHECK-LABEL: func.func @walked
// CHECK:         %[[AHEAD:.*]] = arith.constant 1024 : index
// CHECK:         %[[AT:.*]] = arith.addi %{{.*}}, %[[AHEAD]] : index
// CHECK:         memref.prefetch %{{.*}}[%[[AT]]], read, locality<2>, data : memref<{{.*}}xf32
// CHECK:         llvm.intr.fmuladd
// CHECK:         return
func.func @walked(%a: memref<1x64xf32>, %b: memref<128x64xf32>, %y: memref<1x128xf32>) {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %c16 = arith.constant 16 : index
  %c128 = arith.constant 128 : index
  tile.kernel grid(%i) = (%c1) {
    %va = tile.view %a axes(0, 1) : memref<1x64xf32> -> !tile.view<1x64xf32>
    %vb = tile.view %b axes(0, 1) : memref<128x64xf32> -> !tile.view<128x64xf32>
    %vy = tile.view %y axes(0, 1) : memref<1x128xf32> -> !tile.view<1x128xf32>
    %ta = tile.load %va[%c0, %c0] : !tile.view<1x64xf32> -> !tile.tile<1x64xf32>
    scf.for %k = %c0 to %c128 step %c16 {
      %tb = tile.load %vb[%k, %c0] : !tile.view<128x64xf32> -> !tile.tile<16x64xf32>
      %d = tile.dot %ta, %tb transpose_b : !tile.tile<1x64xf32>, !tile.tile<16x64xf32> -> !tile.tile<1x16xf32>
      tile.store %d, %vy[%c0, %k] : !tile.tile<1x16xf32>, !tile.view<1x128xf32>
    }
  }
  return
}
