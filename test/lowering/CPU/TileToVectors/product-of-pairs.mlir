// RUN: fovea-opt %s --pass-pipeline="builtin.module(func.func(fovea-tile-to-vectors{target=avx512bf16}),canonicalize,cse)" | FileCheck %s
// RUN: fovea-opt %s --pass-pipeline="builtin.module(func.func(fovea-tile-to-vectors{target=avx512}),canonicalize,cse)" | FileCheck %s --check-prefix=PLAIN

// Two neighbours in k of bf16 are multiplied by one instruction: a pair of an input is broadcast, the weight's lie in
// lanes. Two pairs are written out.
// CHECK-LABEL: func.func @product
// CHECK: scf.for {{.*}} iter_args({{.*}}) -> (vector<16xf32>, vector<16xf32>)
// CHECK: %[[W:.*]] = vector.load %{{.*}} : memref<{{.*}}xbf16{{.*}}>, vector<32xbf16>
// CHECK: %[[PAIR:.*]] = vector.load %{{.*}} : memref<{{.*}}xbf16{{.*}}>, vector<2xbf16>
// CHECK: %[[BITS:.*]] = vector.bitcast %[[PAIR]] : vector<2xbf16> to vector<1xi32>
// CHECK: llvm.call_intrinsic "llvm.x86.avx512bf16.dpbf16ps.512"(%{{.*}}, %{{.*}}, %{{.*}}) : (vector<16xf32>, vector<32xbf16>, vector<32xbf16>) -> vector<16xf32>
// CHECK-NOT: {{arith.mulf|fmuladd}}
// CHECK: scf.yield
// Elsewhere the inputs are widened once, and the weight's halves are shifted and masked.
// PLAIN-LABEL: func.func @product
// PLAIN-NOT: call_intrinsic
// PLAIN: arith.shli
// PLAIN: llvm.intr.fmuladd{{.*}} -> vector<16xf32>
func.func @product(%x: memref<?x64xbf16>, %w: memref<1x32x16x2xbf16>, %y: memref<?x16xf32>, %c1: index) {
  %c0 = arith.constant 0 : index
  %xv = tile.view %x axes(0, 1) : memref<?x64xbf16> -> !tile.view<?x64xbf16>
  %wv = tile.packed %w : memref<1x32x16x2xbf16> -> !tile.view<16x64xbf16>
  %yv = tile.view %y axes(0, 1) : memref<?x16xf32> -> !tile.view<?x16xf32>
  tile.kernel grid(%i) = (%c1) {
    %a = tile.load %xv[%c0, %c0] : !tile.view<?x64xbf16> -> !tile.tile<8x64xbf16>
    %b = tile.load %wv[%c0, %c0] : !tile.view<16x64xbf16> -> !tile.tile<16x64xbf16>
    %s = tile.dot %a, %b transpose_b block(2, 16) : !tile.tile<8x64xbf16>, !tile.tile<16x64xbf16> -> !tile.tile<8x16xf32>
    tile.store %s, %yv[%c0, %c0] : !tile.tile<8x16xf32>, !tile.view<?x16xf32>
  }
  return
}
