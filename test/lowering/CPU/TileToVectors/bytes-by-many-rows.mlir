// RUN: fovea-opt %s --pass-pipeline="builtin.module(func.func(fovea-tile-to-vectors{target=avx512bf16}),canonicalize,cse)" | FileCheck %s
// RUN: fovea-opt %s --pass-pipeline="builtin.module(func.func(fovea-tile-to-vectors{target=avx512}),canonicalize,cse)" | FileCheck %s --check-prefix=FLOATS

// Nibbles become bytes once, in front of the loop over rows, with what their group's sums begin with: the zero point of the
// rows, 128, times each weight. Sums of a group are integers until they are scaled.

// CHECK-LABEL: @linear
// CHECK: %[[ZERO:.*]] = memref.alloca() {{.*}} : memref<{{.*}}xi32>
// CHECK: %[[BYTES:.*]] = memref.alloca() {{.*}} : memref<{{.*}}xi8>
// CHECK: scf.for
// CHECK: scf.for
// CHECK: vector.shuffle {{.*}} : vector<64xi8>, vector<64xi8>
// CHECK: llvm.call_intrinsic "llvm.x86.avx512.vpdpbusd.512"(%{{.*}}, %[[POINT:.*]], %{{.*}})
// CHECK: vector.store %{{.*}}, %[[BYTES]]
// CHECK: vector.store %{{.*}}, %[[ZERO]]
// CHECK: scf.for
// CHECK: vector.load %[[ZERO]]
// CHECK-COUNT-16: llvm.call_intrinsic "llvm.x86.avx512.vpdpbusd.512"
// CHECK: arith.sitofp %{{.*}} : vector<16xi32> to vector<16xf32>
// FLOATS-LABEL: @linear
// FLOATS-NOT: vpdpbusd
// FLOATS: arith.sitofp
func.func @linear(%x: memref<?x128xi8>, %w: memref<2x16x16x4xi8>, %s: memref<2x4x16xf16>, %y: memref<?x32xf32>) {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %c8 = arith.constant 8 : index
  %rows = memref.dim %x, %c0 : memref<?x128xi8>
  tile.kernel grid(%n) = (%c1) {
    %wv = tile.packed %w : memref<2x16x16x4xi8> -> !tile.view<32x128xi4>
    %sv = tile.packed %s : memref<2x4x16xf16> -> !tile.view<32x4xf16>
    %q = tile.load %wv[%c0, %c0] : !tile.view<32x128xi4> -> !tile.tile<32x128xi4>
    %f = tile.load %sv[%c0, %c0] : !tile.view<32x4xf16> -> !tile.tile<32x4xf16>
    %b = tile.dequantize %q scales(%f) : !tile.tile<32x128xi4>, !tile.tile<32x4xf16> -> !tile.tile<32x128xf32>
    %xv = tile.view %x axes(0, 1) : memref<?x128xi8> -> !tile.view<?x128xi8>
    %yv = tile.view %y axes(0, 1) : memref<?x32xf32> -> !tile.view<?x32xf32>
    scf.for %i = %c0 to %rows step %c8 {
      %a = tile.load %xv[%i, %c0] : !tile.view<?x128xi8> -> !tile.tile<8x128xi8>
      %t = tile.dot %a, %b transpose_b block(4, 32) : !tile.tile<8x128xi8>, !tile.tile<32x128xf32> -> !tile.tile<8x32xf32>
      tile.store %t, %yv[%i, %c0] : !tile.tile<8x32xf32>, !tile.view<?x32xf32>
    }
  }
  return
}
