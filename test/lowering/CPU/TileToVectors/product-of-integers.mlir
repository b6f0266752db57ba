// RUN: fovea-opt %s --pass-pipeline="builtin.module(func.func(fovea-tile-to-vectors{target=avx512}),canonicalize,cse)" | FileCheck %s
// RUN: fovea-opt %s --pass-pipeline="builtin.module(func.func(fovea-tile-to-vectors{target=avx2}),canonicalize,cse)" | FileCheck %s --check-prefix=AVX2

// Integers are read as they lie, eight k of i4 by one load of words; of one row each group's sums are scaled as a whole.
// CHECK-LABEL: func.func @integers
// CHECK: %[[NONE:.*]] = arith.constant dense<0.000000e+00> : vector<16xf32>
// CHECK: %[[SUM:.*]] = scf.for %[[K:.*]] = %{{.*}} to %{{.*}} step %c32 iter_args(%[[SOFAR:.*]] = %[[NONE]]) -> (vector<16xf32>)
// CHECK: %[[SCALES:.*]] = vector.load %{{.*}} : memref<{{.*}}xf16{{.*}}>, vector<16xf16>
// CHECK: %[[FACTORS:.*]] = arith.extf %[[SCALES]] : vector<16xf16> to vector<16xf32>
// CHECK: %[[GROUP:.*]] = scf.for {{.*}} iter_args(%{{.*}} = %[[NONE]]) -> (vector<16xf32>)
// CHECK: %[[BYTES:.*]] = vector.load %{{.*}} {alignment = 64 : i64} : memref<{{.*}}xi8{{.*}}>, vector<64xi8>
// CHECK: %[[WORDS:.*]] = vector.bitcast %[[BYTES]] : vector<64xi8> to vector<16xi32>
// CHECK: %[[UP:.*]] = arith.shli %[[WORDS]], %{{.*}} : vector<16xi32>
// CHECK: %[[FIRST:.*]] = arith.shrsi %[[UP]], %{{.*}} : vector<16xi32>
// CHECK: arith.sitofp %[[FIRST]] : vector<16xi32> to vector<16xf32>
// CHECK: %[[LAST:.*]] = arith.shrsi %[[WORDS]], %{{.*}} : vector<16xi32>
// CHECK: arith.sitofp %[[LAST]]
// CHECK: llvm.intr.fmuladd(%[[GROUP]], %[[FACTORS]], %[[SOFAR]]) : (vector<16xf32>, vector<16xf32>, vector<16xf32>) -> vector<16xf32>
// CHECK-NOT: tile.
// AVX2-LABEL: func.func @integers
// AVX2: vector.load {{.*}} {alignment = 32 : i64} : memref<{{.*}}xi8{{.*}}>, vector<32xi8>
func.func @integers(%x: memref<1x64xf32>, %w: memref<1x8x16x4xi8>, %s: memref<1x2x16xf16>, %y: memref<1x16xf32>, %c1: index) {
  %c0 = arith.constant 0 : index
  %xv = tile.view %x axes(0, 1) : memref<1x64xf32> -> !tile.view<1x64xf32>
  %wv = tile.packed %w : memref<1x8x16x4xi8> -> !tile.view<16x64xi4>
  %sv = tile.packed %s : memref<1x2x16xf16> -> !tile.view<16x2xf16>
  %yv = tile.view %y axes(0, 1) : memref<1x16xf32> -> !tile.view<1x16xf32>
  tile.kernel grid(%i) = (%c1) {
    %a = tile.load %xv[%c0, %c0] : !tile.view<1x64xf32> -> !tile.tile<1x64xf32>
    %q = tile.load %wv[%c0, %c0] : !tile.view<16x64xi4> -> !tile.tile<16x64xi4>
    %f = tile.load %sv[%c0, %c0] : !tile.view<16x2xf16> -> !tile.tile<16x2xf16>
    %b = tile.dequantize %q scales(%f) : !tile.tile<16x64xi4>, !tile.tile<16x2xf16> -> !tile.tile<16x64xf32>
    %t = tile.dot %a, %b transpose_b : !tile.tile<1x64xf32>, !tile.tile<16x64xf32> -> !tile.tile<1x16xf32>
    tile.store %t, %yv[%c0, %c0] : !tile.tile<1x16xf32>, !tile.view<1x16xf32>
  }
  return
}
