// RUN: fovea-opt %s --pass-pipeline="builtin.module(func.func(fovea-tile-to-vectors{target=avx2}),canonicalize,cse)" | FileCheck %s

// Sums of the groups that offsets have are read; those of other groups say nothing, and the rows' bytes are summed beside.

// CHECK-LABEL: @given(
// CHECK-SAME: %[[X:[^:]*]]: memref<?x64xi8>, %[[G:[^:]*]]: memref<?x2xf32>
// CHECK: %[[SUMS:.*]] = memref.reinterpret_cast %[[G]]
// CHECK: %[[SUM:.*]] = memref.load %[[SUMS]]
// CHECK: %[[ROW:.*]] = vector.broadcast %[[SUM]] : f32 to vector<8xf32>
// CHECK: llvm.intr.fmuladd(%[[ROW]],
// CHECK-LABEL: @other(
// CHECK-SAME: %[[X:[^:]*]]: memref<?x64xi8>, %[[G:[^:]*]]: memref<?x4xf32>
// CHECK-NOT: memref.load {{.*}}xf32
// CHECK: return
func.func @given(%x: memref<?x64xi8>, %g: memref<?x2xf32>, %w: memref<1x8x16x4xi8>, %s: memref<1x2x16xf16>, %y: memref<?x8xf32>) {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %c8 = arith.constant 8 : index
  %rows = memref.dim %x, %c0 : memref<?x64xi8>
  tile.kernel grid(%n) = (%c1) {
    %wv = tile.packed %w : memref<1x8x16x4xi8> -> !tile.view<8x64xi4>
    %sv = tile.packed %s : memref<1x2x16xf16> -> !tile.view<8x2xf16>
    %q = tile.load %wv[%c0, %c0] : !tile.view<8x64xi4> -> !tile.tile<8x64xi4>
    %f = tile.load %sv[%c0, %c0] : !tile.view<8x2xf16> -> !tile.tile<8x2xf16>
    %b = tile.dequantize %q scales(%f) offsets(%f) : !tile.tile<8x64xi4>, !tile.tile<8x2xf16> offsets !tile.tile<8x2xf16> -> !tile.tile<8x64xf32>
    %xv = tile.view %x axes(0, 1) : memref<?x64xi8> -> !tile.view<?x64xi8>
    %gv = tile.view %g axes(0, 1) : memref<?x2xf32> -> !tile.view<?x2xf32>
    %yv = tile.view %y axes(0, 1) : memref<?x8xf32> -> !tile.view<?x8xf32>
    scf.for %i = %c0 to %rows step %c8 {
      %a = tile.load %xv[%i, %c0] : !tile.view<?x64xi8> -> !tile.tile<8x64xi8>
      %h = tile.load %gv[%i, %c0] : !tile.view<?x2xf32> -> !tile.tile<8x2xf32>
      %t = tile.dot %a, %b transpose_b sums(%h) block(1, 8) : !tile.tile<8x64xi8>, !tile.tile<8x64xf32> sums !tile.tile<8x2xf32> -> !tile.tile<8x8xf32>
      tile.store %t, %yv[%i, %c0] : !tile.tile<8x8xf32>, !tile.view<?x8xf32>
    }
  }
  return
}

func.func @other(%x: memref<?x64xi8>, %g: memref<?x4xf32>, %w: memref<1x8x16x4xi8>, %s: memref<1x2x16xf16>, %y: memref<?x8xf32>) {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %c8 = arith.constant 8 : index
  %rows = memref.dim %x, %c0 : memref<?x64xi8>
  tile.kernel grid(%n) = (%c1) {
    %wv = tile.packed %w : memref<1x8x16x4xi8> -> !tile.view<8x64xi4>
    %sv = tile.packed %s : memref<1x2x16xf16> -> !tile.view<8x2xf16>
    %q = tile.load %wv[%c0, %c0] : !tile.view<8x64xi4> -> !tile.tile<8x64xi4>
    %f = tile.load %sv[%c0, %c0] : !tile.view<8x2xf16> -> !tile.tile<8x2xf16>
    %b = tile.dequantize %q scales(%f) offsets(%f) : !tile.tile<8x64xi4>, !tile.tile<8x2xf16> offsets !tile.tile<8x2xf16> -> !tile.tile<8x64xf32>
    %xv = tile.view %x axes(0, 1) : memref<?x64xi8> -> !tile.view<?x64xi8>
    %gv = tile.view %g axes(0, 1) : memref<?x4xf32> -> !tile.view<?x4xf32>
    %yv = tile.view %y axes(0, 1) : memref<?x8xf32> -> !tile.view<?x8xf32>
    scf.for %i = %c0 to %rows step %c8 {
      %a = tile.load %xv[%i, %c0] : !tile.view<?x64xi8> -> !tile.tile<8x64xi8>
      %h = tile.load %gv[%i, %c0] : !tile.view<?x4xf32> -> !tile.tile<8x4xf32>
      %t = tile.dot %a, %b transpose_b sums(%h) block(1, 8) : !tile.tile<8x64xi8>, !tile.tile<8x64xf32> sums !tile.tile<8x4xf32> -> !tile.tile<8x8xf32>
      tile.store %t, %yv[%i, %c0] : !tile.tile<8x8xf32>, !tile.view<?x8xf32>
    }
  }
  return
}
