// RUN: fovea-opt %s --pass-pipeline="builtin.module(func.func(fovea-tile-to-vectors{target=avx512}),canonicalize,cse)" | FileCheck %s
// RUN: fovea-opt %s --pass-pipeline="builtin.module(func.func(fovea-tile-to-vectors{target=avx2}),canonicalize,cse)" | FileCheck %s --check-prefix=AVX2

// A register block holds its sums over the whole depth: 2 x 16 outputs, four k written out.
// CHECK-LABEL: func.func @product
// CHECK: %[[SCRATCH:.*]] = memref.alloca() {alignment = 64 : i64} : memref<{{.*}}xf32>
// CHECK: scf.parallel
// CHECK: scf.for
// CHECK: scf.for {{.*}} iter_args({{.*}}) -> (vector<16xf32>, vector<16xf32>)
// CHECK-COUNT-4: vector.load %{{.*}}[%{{.*}}] {alignment = 64 : i64} : memref<{{.*}}xf32{{.*}}>, vector<16xf32>
// CHECK: scf.yield
// The bias is added where the sums are stored; rows past the end of y are left out, lanes never.
// CHECK: arith.addf
// CHECK-NEXT: vector.store
// CHECK-NOT: tile.
// AVX2-LABEL: func.func @product
// AVX2: scf.for {{.*}} -> (vector<8xf32>, vector<8xf32>, vector<8xf32>, vector<8xf32>)
func.func @product(%x: memref<?x64xf32>, %w: memref<1x64x16xf32>, %bias: memref<16xf32>, %y: memref<?x16xf32>, %c1: index) {
  %c0 = arith.constant 0 : index
  %xv = tile.view %x axes(0, 1) : memref<?x64xf32> -> !tile.view<?x64xf32>
  %wv = tile.packed %w : memref<1x64x16xf32> -> !tile.view<16x64xf32>
  %bv = tile.view %bias axes(0) : memref<16xf32> -> !tile.view<1x16xf32>
  %yv = tile.view %y axes(0, 1) : memref<?x16xf32> -> !tile.view<?x16xf32>
  tile.kernel grid(%i) = (%c1) {
    %a = tile.load %xv[%c0, %c0] : !tile.view<?x64xf32> -> !tile.tile<8x64xf32>
    %b = tile.load %wv[%c0, %c0] : !tile.view<16x64xf32> -> !tile.tile<16x64xf32>
    %s = tile.dot %a, %b transpose_b block(2, 16) : !tile.tile<8x64xf32>, !tile.tile<16x64xf32> -> !tile.tile<8x16xf32>
    %r = tile.load %bv[%c0, %c0] : !tile.view<1x16xf32> -> !tile.tile<1x16xf32>
    %rb = tile.broadcast %r : !tile.tile<1x16xf32> -> !tile.tile<8x16xf32>
    %t = tile.map(%u = %s, %v = %rb) : (!tile.tile<8x16xf32>, !tile.tile<8x16xf32>) -> !tile.tile<8x16xf32> {
      %0 = arith.addf %u, %v : f32
      tile.yield %0 : f32
    }
    tile.store %t, %yv[%c0, %c0] : !tile.tile<8x16xf32>, !tile.view<?x16xf32>
  }
  return
}
