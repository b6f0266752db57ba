// RUN: fovea-opt %s --pass-pipeline="builtin.module(func.func(fovea-tile-to-vectors{target=avx512bf16}),canonicalize,cse)" | FileCheck %s

// For one row weights are read as they lie: bytes of even k and of odd ones, sixteen times what they stand for, and the
// row's bytes in the same order. The zero point goes from the row to the nibbles: what it adds is the row's sum, one product
// for all outputs. Near the end of the depth, here always, the next block's words and scales are fetched, into the
// second-level cache; of one word after the other.

// CHECK-LABEL: @linear
// CHECK-NOT: vector.store
// CHECK: scf.for {{.*}} iter_args(%{{.*}}, %{{.*}}) -> (vector<16xf32>, vector<16xf32>)
// CHECK: arith.select %{{.*}}, %c1024, %c2048
// CHECK: vector.shuffle %{{.*}} [0, 2, 4, 6] : vector<8xi8>, vector<8xi8>
// CHECK: %[[EVEN:.*]] = arith.xori %{{.*}}, %cst{{.*}} : vector<64xi8>
// CHECK: vector.shuffle %{{.*}} [1, 3, 5, 7] : vector<8xi8>, vector<8xi8>
// CHECK: %[[ROW:.*]] = arith.xori %{{.*}}, %[[POINT:.*]] : vector<64xi8>
// CHECK: llvm.call_intrinsic "llvm.x86.avx512.vpdpbusd.512"(%{{.*}}, %[[POINT]], %{{.*}})
// CHECK: llvm.call_intrinsic "llvm.x86.avx512.vpdpbusd.512"(%{{.*}}, %[[POINT]], %[[ROW]])
// CHECK: memref.prefetch {{.*}}locality<2>
// CHECK: arith.shli
// CHECK: arith.andi
// CHECK: %[[NIBBLES:.*]] = arith.xori %{{.*}}, %[[POINT]] : vector<64xi8>
// CHECK: llvm.call_intrinsic "llvm.x86.avx512.vpdpbusd.512"(%{{.*}}, %[[NIBBLES]], %[[EVEN]])
// CHECK: llvm.fence syncscope("singlethread") acq_rel
// CHECK: arith.select %{{.*}}, %c64, %c128
// CHECK: memref.prefetch %{{.*}}, locality<2>, data : memref<128xf16
// CHECK: arith.subi %{{.*}}, %{{.*}} : vector<16xi32>
// CHECK: arith.sitofp
func.func @linear(%x: memref<?x128xi8>, %w: memref<2x16x16x4xi8>, %s: memref<2x4x16xf16>, %y: memref<?x32xf32>) {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %rows = memref.dim %x, %c0 : memref<?x128xi8>
  tile.kernel grid(%n) = (%c1) {
    %wv = tile.packed %w : memref<2x16x16x4xi8> -> !tile.view<32x128xi4>
    %sv = tile.packed %s : memref<2x4x16xf16> -> !tile.view<32x4xf16>
    %q = tile.load %wv[%c0, %c0] : !tile.view<32x128xi4> -> !tile.tile<32x128xi4>
    %f = tile.load %sv[%c0, %c0] : !tile.view<32x4xf16> -> !tile.tile<32x4xf16>
    %b = tile.dequantize %q scales(%f) : !tile.tile<32x128xi4>, !tile.tile<32x4xf16> -> !tile.tile<32x128xf32>
    %xv = tile.view %x axes(0, 1) : memref<?x128xi8> -> !tile.view<?x128xi8>
    %yv = tile.view %y axes(0, 1) : memref<?x32xf32> -> !tile.view<?x32xf32>
    scf.for %i = %c0 to %rows step %c1 {
      %a = tile.load %xv[%i, %c0] : !tile.view<?x128xi8> -> !tile.tile<1x128xi8>
      %t = tile.dot %a, %b transpose_b block(1, 32) : !tile.tile<1x128xi8>, !tile.tile<32x128xf32> -> !tile.tile<1x32xf32>
      tile.store %t, %yv[%i, %c0] : !tile.tile<1x32xf32>, !tile.view<?x32xf32>
    }
  }
  return
}
