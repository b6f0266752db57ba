// RUN: fovea-opt %s --split-input-file --pass-pipeline="builtin.module(func.func(fovea-tile-to-vectors{target=avx512bf16}),canonicalize,cse)" | FileCheck %s
// RUN: fovea-opt %s --split-input-file --pass-pipeline="builtin.module(func.func(fovea-tile-to-vectors{target=aarch64-i8mm}),canonicalize,cse)" | FileCheck %s --check-prefix=NEON
// RUN: fovea-opt %s --split-input-file --pass-pipeline="builtin.module(func.func(fovea-tile-to-vectors{target=aarch64}),canonicalize,cse)" | FileCheck %s --check-prefix=PLAIN

// Six bits by one row: a unit of 16 in three words, each of which is loaded and fetched once. The low four bits of a part and
// its high two become the upper bits of bytes, four times what they stand for; their sign is turned over, of all parts of the
// word at once, since the zero point goes from the row to the weights. NEON multiplies signed bytes, and shifts bytes.

// CHECK-LABEL: @six
// CHECK: scf.for %[[K:.*]] = %c0 to %c64 step %c16
// CHECK: %[[UNIT:.*]] = arith.divui %[[K]], %c16
// CHECK: arith.muli %[[UNIT]], %c192
// CHECK: memref.prefetch
// CHECK: %[[LOW:.*]] = vector.bitcast %{{.*}} : vector<64xi8> to vector<16xi32>
// CHECK: %[[UP:.*]] = arith.shli %[[LOW]], %[[TWO:.*]] : vector<16xi32>
// CHECK: arith.andi %[[UP]], %[[FOUR_BITS:.*]] : vector<16xi32>
// CHECK: memref.prefetch
// CHECK: %[[HIGH:.*]] = arith.xori %{{.*}}, %{{.*}} : vector<16xi32>
// CHECK: arith.shli %[[HIGH]], %[[SIX:.*]] : vector<16xi32>
// CHECK: arith.andi %{{.*}}, %[[TWO_BITS:.*]] : vector<16xi32>
// CHECK: arith.ori
// CHECK: %[[DOWN:.*]] = arith.shrui %[[LOW]], %[[TWO]] : vector<16xi32>
// CHECK: arith.andi %[[DOWN]], %[[FOUR_BITS]]
// CHECK: arith.shli %[[HIGH]], %{{.*}} : vector<16xi32>
// CHECK: arith.ori
// CHECK: memref.prefetch
// CHECK-NOT: memref.prefetch
// CHECK: arith.shli %[[HIGH]], %[[TWO]] : vector<16xi32>
// CHECK: arith.andi %[[HIGH]], %[[TWO_BITS]] : vector<16xi32>
// CHECK-COUNT-4: llvm.call_intrinsic "llvm.x86.avx512.vpdpbusd.512"(%{{.*}}, %{{.*}}, %{{.*}})
// CHECK: arith.mulf %{{.*}}, %{{.*}} : vector<16xf32>

// NEON-LABEL: @six
// NEON-COUNT-2: vector.shuffle {{.*}} : vector<16xi8>, vector<16xi8>
// NEON: arith.shli %{{.*}} : vector<16xi8>
// NEON-COUNT-4: llvm.call_intrinsic "llvm.aarch64.neon.sdot.v4i32.v16i8"
// NEON: llvm.call_intrinsic "llvm.aarch64.neon.vcvtfxs2fp.v4f32.v4i32"(%{{.*}}, %c2_i32)

// Without products of bytes integers become numbers one by one.
// PLAIN-LABEL: @six
// PLAIN-NOT: vector.store {{.*}}xi8
// PLAIN: arith.sitofp %{{.*}} : vector<4xi32> to vector<4xf32>
// PLAIN-NOT: llvm.call_intrinsic
func.func @six(%x: memref<?x64xi8>, %w: memref<1x12x16x4xi8>, %s: memref<1x4x16xf32>, %y: memref<?x16xf32>) {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %rows = memref.dim %x, %c0 : memref<?x64xi8>
  tile.kernel grid(%n) = (%c1) {
    %wv = tile.packed %w : memref<1x12x16x4xi8> -> !tile.view<16x64xi6>
    %sv = tile.packed %s : memref<1x4x16xf32> -> !tile.view<16x4xf32>
    %q = tile.load %wv[%c0, %c0] : !tile.view<16x64xi6> -> !tile.tile<16x64xi6>
    %f = tile.load %sv[%c0, %c0] : !tile.view<16x4xf32> -> !tile.tile<16x4xf32>
    %b = tile.dequantize %q scales(%f) : !tile.tile<16x64xi6>, !tile.tile<16x4xf32> -> !tile.tile<16x64xf32>
    %xv = tile.view %x axes(0, 1) : memref<?x64xi8> -> !tile.view<?x64xi8>
    %yv = tile.view %y axes(0, 1) : memref<?x16xf32> -> !tile.view<?x16xf32>
    scf.for %i = %c0 to %rows step %c1 {
      %a = tile.load %xv[%i, %c0] : !tile.view<?x64xi8> -> !tile.tile<1x64xi8>
      %t = tile.dot %a, %b transpose_b block(1, 16) : !tile.tile<1x64xi8>, !tile.tile<16x64xf32> -> !tile.tile<1x16xf32>
      tile.store %t, %yv[%i, %c0] : !tile.tile<1x16xf32>, !tile.view<?x16xf32>
    }
  }
  return
}

// -----

// Nibbles that are numbers of a table's entries: one instruction finds those of a vector. By one row entries have the zero
// point; by many the bytes are stored, once for all rows.

// CHECK-LABEL: @table
// CHECK-DAG: %[[ENTRIES:.*]] = arith.constant dense<[-127, -104, -83, -65, -49, -35, -22, -10, 1, 13, 25, 38, 53, 69, 89, 113, -127,
// CHECK: arith.andi
// CHECK: %[[EVEN:.*]] = llvm.call_intrinsic "llvm.x86.avx512.pshuf.b.512"(%[[ENTRIES]], %{{.*}}) : (vector<64xi8>, vector<64xi8>) -> vector<64xi8>
// CHECK: arith.shrui
// CHECK: %[[ODD:.*]] = llvm.call_intrinsic "llvm.x86.avx512.pshuf.b.512"(%[[ENTRIES]], %{{.*}})
// CHECK: vector.shuffle %[[EVEN]], %[[ODD]]
// CHECK: vector.store {{.*}} vector<64xi8>

// NEON-LABEL: @table
// NEON: llvm.call_intrinsic "llvm.aarch64.neon.tbl1.v16i8"

// PLAIN-LABEL: @table
// PLAIN: arith.cmpi eq, %{{.*}} : vector<16xi8>
// PLAIN: arith.select %{{.*}} : vector<16xi1>, vector<16xi8>
// PLAIN-NOT: llvm.call_intrinsic
func.func @table(%x: memref<?x64xi8>, %w: memref<1x8x16x4xi8>, %s: memref<1x2x16xf16>, %y: memref<?x16xf32>) {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %c16 = arith.constant 16 : index
  %rows = memref.dim %x, %c0 : memref<?x64xi8>
  tile.kernel grid(%n) = (%c1) {
    %wv = tile.packed %w : memref<1x8x16x4xi8> -> !tile.view<16x64xi4>
    %sv = tile.packed %s : memref<1x2x16xf16> -> !tile.view<16x2xf16>
    %q = tile.load %wv[%c0, %c0] : !tile.view<16x64xi4> -> !tile.tile<16x64xi4>
    %f = tile.load %sv[%c0, %c0] : !tile.view<16x2xf16> -> !tile.tile<16x2xf16>
    %b = tile.dequantize %q table [-127, -104, -83, -65, -49, -35, -22, -10, 1, 13, 25, 38, 53, 69, 89, 113] scales(%f) : !tile.tile<16x64xi4>, !tile.tile<16x2xf16> -> !tile.tile<16x64xf32>
    %xv = tile.view %x axes(0, 1) : memref<?x64xi8> -> !tile.view<?x64xi8>
    %yv = tile.view %y axes(0, 1) : memref<?x16xf32> -> !tile.view<?x16xf32>
    scf.for %i = %c0 to %rows step %c16 {
      %a = tile.load %xv[%i, %c0] : !tile.view<?x64xi8> -> !tile.tile<16x64xi8>
      %t = tile.dot %a, %b transpose_b block(4, 16) : !tile.tile<16x64xi8>, !tile.tile<16x64xf32> -> !tile.tile<16x16xf32>
      tile.store %t, %yv[%i, %c0] : !tile.tile<16x16xf32>, !tile.view<?x16xf32>
    }
  }
  return
}

// -----

// Where the depth ends within a unit, integers become numbers one by one, in a buffer.

// CHECK-LABEL: @ends
// CHECK: scf.for
// CHECK: %[[BYTE:.*]] = memref.load %{{.*}} : memref<{{.*}}xi8
// CHECK: arith.trunci %{{.*}} : i8 to i4
// CHECK: memref.load %{{.*}} : memref<{{.*}}xi8
// CHECK: arith.trunci %{{.*}} : i8 to i6
// CHECK: arith.sitofp %{{.*}} : i6 to f32
// CHECK: memref.store
// CHECK-NOT: llvm.call_intrinsic
func.func @ends(%x: memref<?x40xf32>, %w: memref<1x9x16x4xi8>, %y: memref<?x16xf32>) {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %rows = memref.dim %x, %c0 : memref<?x40xf32>
  tile.kernel grid(%n) = (%c1) {
    %wv = tile.packed %w : memref<1x9x16x4xi8> -> !tile.view<16x40xi6>
    %q = tile.load %wv[%c0, %c0] : !tile.view<16x40xi6> -> !tile.tile<16x48xi6>
    %b = tile.dequantize %q : !tile.tile<16x48xi6> -> !tile.tile<16x48xf32>
    %xv = tile.view %x axes(0, 1) : memref<?x40xf32> -> !tile.view<?x40xf32>
    %yv = tile.view %y axes(0, 1) : memref<?x16xf32> -> !tile.view<?x16xf32>
    scf.for %i = %c0 to %rows step %c1 {
      %a = tile.load %xv[%i, %c0] : !tile.view<?x40xf32> -> !tile.tile<1x48xf32>
      %t = tile.dot %a, %b transpose_b block(1, 16) : !tile.tile<1x48xf32>, !tile.tile<16x48xf32> -> !tile.tile<1x16xf32>
      tile.store %t, %yv[%i, %c0] : !tile.tile<1x16xf32>, !tile.view<?x16xf32>
    }
  }
  return
}
