// RUN: fovea-opt %s --pass-pipeline='builtin.module(func.func(fovea-tile-to-vectors{target=avx512}))' | FileCheck %s
// RUN: fovea-opt %s --pass-pipeline='builtin.module(func.func(fovea-tile-to-vectors{target=avx2}))' | FileCheck %s --check-prefix=AVX2

// One row by rows of memory, which are read as they lie: each product is summed across lanes, and no row is turned into a
// buffer. Four rows one behind the other become one vector, of whose units of four lanes each has a part of all their sums, by
// what one shuffle gives; the units of four such vectors are added up by halves one behind the other.

// CHECK-LABEL: func.func @one
// CHECK-COUNT-4: llvm.intr.fmuladd
// CHECK:         llvm.fence syncscope("singlethread") acq_rel
// CHECK-COUNT-12: llvm.intr.fmuladd
// CHECK:         vector.shuffle %[[A:[^ ,]*]], %[[B:[^ ,]*]] [0, 1, 16, 17, 4, 5, 20, 21, 8, 9, 24, 25, 12, 13, 28, 29]
// CHECK-NEXT:    vector.shuffle %[[A]], %[[B]] [2, 3, 18, 19, 6, 7, 22, 23, 10, 11, 26, 27, 14, 15, 30, 31]
// CHECK-NEXT:    arith.addf
// CHECK:         vector.shuffle {{.*}} [0, 2, 16, 18, 4, 6, 20, 22, 8, 10, 24, 26, 12, 14, 28, 30]
// CHECK-COUNT-48: llvm.intr.fmuladd
// CHECK:         vector.shuffle {{.*}} [0, 1, 2, 3, 4, 5, 6, 7, 16, 17, 18, 19, 20, 21, 22, 23]
// CHECK:         vector.shuffle {{.*}} [0, 1, 2, 3, 8, 9, 10, 11, 16, 17, 18, 19, 24, 25, 26, 27]
// CHECK:         vector.shuffle {{.*}} [4, 5, 6, 7, 12, 13, 14, 15, 20, 21, 22, 23, 28, 29, 30, 31]
// CHECK-NOT:     {{arith.mulf|fmuladd|shuffle}}
// CHECK:         return
// AVX2-LABEL: func.func @one
// AVX2:          vector.shuffle {{.*}} [0, 1, 8, 9, 4, 5, 12, 13] : vector<8xf32>, vector<8xf32>
// AVX2:          vector.shuffle {{.*}} [0, 1, 2, 3, 8, 9, 10, 11] : vector<8xf32>, vector<8xf32>
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

// Rows of an open end are computed as the last one past it. Three rows are two, and then one, for each sixteen rows in memory:
// the sums of more than two would leave the registers. Where an end is in between, they are two walks over all of those.
// CHECK-LABEL: func.func @open
// CHECK:         scf.if
// CHECK:         scf.for %{{.*}} = %c0{{.*}} to %c32{{.*}} step %c16
// CHECK-COUNT-96: llvm.intr.fmuladd
// CHECK-NOT:     scf.for
// CHECK:         else
// CHECK:         scf.for %{{.*}} = %c0{{.*}} to %c32{{.*}} step %c16
// CHECK:         arith.minsi
// CHECK-COUNT-64: llvm.intr.fmuladd
// CHECK:         scf.for %{{.*}} = %c0{{.*}} to %c32{{.*}} step %c16
// CHECK-COUNT-32: llvm.intr.fmuladd
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

// More rows than sixteen read the other operand, which is turned once.
// CHECK-LABEL: func.func @many
// CHECK-NOT:     [0, 1, 2, 3, 8, 9, 10, 11, 16, 17, 18, 19, 24, 25, 26, 27]
// CHECK:         return
func.func @many(%a: memref<17x64xf32>, %b: memref<32x64xf32>, %y: memref<17x32xf32>) {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  tile.kernel grid(%i) = (%c1) {
    %va = tile.view %a axes(0, 1) : memref<17x64xf32> -> !tile.view<17x64xf32>
    %vb = tile.view %b axes(0, 1) : memref<32x64xf32> -> !tile.view<32x64xf32>
    %vy = tile.view %y axes(0, 1) : memref<17x32xf32> -> !tile.view<17x32xf32>
    %ta = tile.load %va[%c0, %c0] : !tile.view<17x64xf32> -> !tile.tile<17x64xf32>
    %tb = tile.load %vb[%c0, %c0] : !tile.view<32x64xf32> -> !tile.tile<32x64xf32>
    %d = tile.dot %ta, %tb transpose_b : !tile.tile<17x64xf32>, !tile.tile<32x64xf32> -> !tile.tile<17x32xf32>
    tile.store %d, %vy[%c0, %c0] : !tile.tile<17x32xf32>, !tile.view<17x32xf32>
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
