// RUN: fovea-opt %s --split-input-file --pass-pipeline="builtin.module(func.func(fovea-tile-to-vectors{target=avx2}),canonicalize,cse)" | FileCheck %s

// AVX2 has no products of bytes with sums of 32 bits. Eight products of unsigned bytes by nibbles, in two halves each, fit
// in 16 bits: those of a group of 32 are added there, and once to a sum of 32 bits.

// CHECK-LABEL: @nibbles
// CHECK-DAG: %[[ONES:.*]] = arith.constant dense<1> : vector<16xi16>
// CHECK-DAG: %[[POINT:.*]] = arith.constant dense<-128> : vector<32xi8>
// CHECK: %[[ZERO:.*]] = memref.alloca() {{.*}} : memref<{{.*}}xi32>
// CHECK: %[[BYTES:.*]] = memref.alloca() {{.*}} : memref<{{.*}}xi8>
// CHECK: arith.subi %{{.*}}, %{{.*}} : vector<32xi8>
// CHECK: llvm.call_intrinsic "llvm.x86.avx2.pmadd.ub.sw"(%[[POINT]], %{{.*}}) : (vector<32xi8>, vector<32xi8>) -> vector<16xi16>
// CHECK: vector.store %{{.*}}, %[[BYTES]]
// CHECK: vector.store %{{.*}}, %[[ZERO]]
// CHECK: %[[START:.*]] = vector.load %[[ZERO]]
// CHECK: %[[FIRST:.*]] = llvm.call_intrinsic "llvm.x86.avx2.pmadd.ub.sw"
// CHECK: %[[SECOND:.*]] = llvm.call_intrinsic "llvm.x86.avx2.pmadd.ub.sw"
// CHECK: arith.addi %[[FIRST]], %[[SECOND]] : vector<16xi16>
// CHECK-COUNT-6: llvm.call_intrinsic "llvm.x86.avx2.pmadd.ub.sw"
// CHECK: %[[EIGHT:.*]] = arith.addi %{{.*}} : vector<16xi16>
// CHECK: %[[WIDE:.*]] = llvm.call_intrinsic "llvm.x86.avx2.pmadd.wd"(%[[EIGHT]], %[[ONES]]) : (vector<16xi16>, vector<16xi16>) -> vector<8xi32>
// CHECK: %[[SUM:.*]] = arith.addi %[[START]], %[[WIDE]] : vector<8xi32>
// CHECK: arith.sitofp %[[SUM]] : vector<8xi32> to vector<8xf32>
func.func @nibbles(%x: memref<?x64xi8>, %w: memref<1x8x16x4xi8>, %s: memref<1x2x16xf16>, %y: memref<?x8xf32>) {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %c8 = arith.constant 8 : index
  %rows = memref.dim %x, %c0 : memref<?x64xi8>
  tile.kernel grid(%n) = (%c1) {
    %wv = tile.packed %w : memref<1x8x16x4xi8> -> !tile.view<8x64xi4>
    %sv = tile.packed %s : memref<1x2x16xf16> -> !tile.view<8x2xf16>
    %q = tile.load %wv[%c0, %c0] : !tile.view<8x64xi4> -> !tile.tile<8x64xi4>
    %f = tile.load %sv[%c0, %c0] : !tile.view<8x2xf16> -> !tile.tile<8x2xf16>
    %b = tile.dequantize %q scales(%f) : !tile.tile<8x64xi4>, !tile.tile<8x2xf16> -> !tile.tile<8x64xf32>
    %xv = tile.view %x axes(0, 1) : memref<?x64xi8> -> !tile.view<?x64xi8>
    %yv = tile.view %y axes(0, 1) : memref<?x8xf32> -> !tile.view<?x8xf32>
    scf.for %i = %c0 to %rows step %c8 {
      %a = tile.load %xv[%i, %c0] : !tile.view<?x64xi8> -> !tile.tile<8x64xi8>
      %t = tile.dot %a, %b transpose_b block(1, 8) : !tile.tile<8x64xi8>, !tile.tile<8x64xf32> -> !tile.tile<8x8xf32>
      tile.store %t, %yv[%i, %c0] : !tile.tile<8x8xf32>, !tile.view<?x8xf32>
    }
  }
  return
}

// -----

// Two products by integers of six bits fit, and none by any bytes: these become numbers of 16 bits, even ones and odd ones.

// CHECK-LABEL: @bytes
// CHECK-COUNT-4: arith.subi %{{.*}} : vector<32xi8>
// CHECK: vector.store
// CHECK: scf.for %{{.*}} = %c0 to %dim
// CHECK: scf.for
// CHECK: %[[FIRST:.*]] = llvm.call_intrinsic "llvm.x86.avx2.pmadd.ub.sw"
// CHECK-NEXT: %[[SECOND:.*]] = llvm.call_intrinsic "llvm.x86.avx2.pmadd.ub.sw"
// CHECK-NEXT: %[[BOTH:.*]] = arith.addi %[[FIRST]], %[[SECOND]] : vector<16xi16>
// CHECK-NEXT: llvm.call_intrinsic "llvm.x86.avx2.pmadd.wd"(%[[BOTH]], %{{.*}})
// CHECK-NOT: arith.shrsi
// CHECK: scf.for
// CHECK: arith.andi %{{.*}} : vector<16xi16>
// CHECK: arith.shrui %{{.*}} : vector<16xi16>
// CHECK: arith.shrsi %{{.*}} : vector<16xi16>
// CHECK-COUNT-2: llvm.call_intrinsic "llvm.x86.avx2.pmadd.wd"
func.func @bytes(%x: memref<?x16xi8>, %w: memref<1x4x16x4xi8>, %p: memref<1x3x16x4xi8>, %y: memref<?x8xf32>, %z: memref<?x8xf32>) {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %c8 = arith.constant 8 : index
  %rows = memref.dim %x, %c0 : memref<?x16xi8>
  tile.kernel grid(%n) = (%c1) {
    %wv = tile.packed %w : memref<1x4x16x4xi8> -> !tile.view<8x16xi8>
    %q = tile.load %wv[%c0, %c0] : !tile.view<8x16xi8> -> !tile.tile<8x16xi8>
    %pv = tile.packed %p : memref<1x3x16x4xi8> -> !tile.view<8x16xi6>
    %o = tile.load %pv[%c0, %c0] : !tile.view<8x16xi6> -> !tile.tile<8x16xi6>
    %six = tile.dequantize %o : !tile.tile<8x16xi6> -> !tile.tile<8x16xf32>
    %all = tile.dequantize %q : !tile.tile<8x16xi8> -> !tile.tile<8x16xf32>
    %xv = tile.view %x axes(0, 1) : memref<?x16xi8> -> !tile.view<?x16xi8>
    %yv = tile.view %y axes(0, 1) : memref<?x8xf32> -> !tile.view<?x8xf32>
    %zv = tile.view %z axes(0, 1) : memref<?x8xf32> -> !tile.view<?x8xf32>
    scf.for %i = %c0 to %rows step %c8 {
      %a = tile.load %xv[%i, %c0] : !tile.view<?x16xi8> -> !tile.tile<8x16xi8>
      %t = tile.dot %a, %six transpose_b block(1, 8) : !tile.tile<8x16xi8>, !tile.tile<8x16xf32> -> !tile.tile<8x8xf32>
      tile.store %t, %yv[%i, %c0] : !tile.tile<8x8xf32>, !tile.view<?x8xf32>
      %u = tile.dot %a, %all transpose_b block(1, 8) : !tile.tile<8x16xi8>, !tile.tile<8x16xf32> -> !tile.tile<8x8xf32>
      tile.store %u, %zv[%i, %c0] : !tile.tile<8x8xf32>, !tile.view<?x8xf32>
    }
  }
  return
}
