// RUN: fovea-opt %s --pass-pipeline="builtin.module(func.func(fovea-tile-to-vectors{target=avx512}),canonicalize,cse)" | FileCheck %s

// Panels of 48 outputs and 5,632 inputs are 1.08 MB, more than a second-level cache holds: a quarter of the depth is
// multiplied for all rows before the next, which begins with the sums so far. Half as many inputs are multiplied at once.

// CHECK-LABEL: func.func @long
// CHECK:         scf.for {{.*}} = %c0 to %c64 step %c8
// CHECK:           scf.for {{.*}} = %c0 to %c1408 step %c4 iter_args
// CHECK:         scf.for %[[K:.*]] = %c1408 to %c5632 step %c1408
// CHECK:           scf.for {{.*}} = %c0 to %c64 step %c8
// CHECK-COUNT-24:    vector.load %alloca{{.*}} : memref<{{.*}}xf32>, vector<16xf32>
// CHECK:             scf.for {{.*}} = %c0 to %c1408 step %c4 iter_args
// CHECK:         return
func.func @long(%x: memref<64x5632xf32>, %w: memref<3x5632x16xf32>, %y: memref<64x48xf32>) {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  tile.kernel grid(%n) = (%c1) {
    %wv = tile.packed %w : memref<3x5632x16xf32> -> !tile.view<48x5632xf32>
    %xv = tile.view %x axes(0, 1) : memref<64x5632xf32> -> !tile.view<64x5632xf32>
    %yv = tile.view %y axes(0, 1) : memref<64x48xf32> -> !tile.view<64x48xf32>
    %a = tile.load %xv[%c0, %c0] : !tile.view<64x5632xf32> -> !tile.tile<64x5632xf32>
    %b = tile.load %wv[%c0, %c0] : !tile.view<48x5632xf32> -> !tile.tile<48x5632xf32>
    %t = tile.dot %a, %b transpose_b block(8, 48) : !tile.tile<64x5632xf32>, !tile.tile<48x5632xf32> -> !tile.tile<64x48xf32>
    tile.store %t, %yv[%c0, %c0] : !tile.tile<64x48xf32>, !tile.view<64x48xf32>
  }
  return
}

// CHECK-LABEL: func.func @half
// CHECK:         scf.for {{.*}} = %c0 to %c2816 step %c4 iter_args
// CHECK-NOT:     iter_args
// CHECK:         return
func.func @half(%x: memref<64x2816xf32>, %w: memref<3x2816x16xf32>, %y: memref<64x48xf32>) {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  tile.kernel grid(%n) = (%c1) {
    %wv = tile.packed %w : memref<3x2816x16xf32> -> !tile.view<48x2816xf32>
    %xv = tile.view %x axes(0, 1) : memref<64x2816xf32> -> !tile.view<64x2816xf32>
    %yv = tile.view %y axes(0, 1) : memref<64x48xf32> -> !tile.view<64x48xf32>
    %a = tile.load %xv[%c0, %c0] : !tile.view<64x2816xf32> -> !tile.tile<64x2816xf32>
    %b = tile.load %wv[%c0, %c0] : !tile.view<48x2816xf32> -> !tile.tile<48x2816xf32>
    %t = tile.dot %a, %b transpose_b block(8, 48) : !tile.tile<64x2816xf32>, !tile.tile<48x2816xf32> -> !tile.tile<64x48xf32>
    tile.store %t, %yv[%c0, %c0] : !tile.tile<64x48xf32>, !tile.view<64x48xf32>
  }
  return
}
