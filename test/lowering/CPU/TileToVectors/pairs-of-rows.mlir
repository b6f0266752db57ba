// RUN: fovea-opt %s --pass-pipeline='builtin.module(func.func(fovea-tile-to-vectors{target=avx512bf16}))' | FileCheck %s
// RUN: fovea-opt %s --pass-pipeline='builtin.module(func.func(fovea-tile-to-vectors{target=avx512}))' | FileCheck %s --check-prefix=WIDE

// One row of weights by rows of memory, both of bf16: two rows are interleaved, by units of eight columns, and multiplied by
// a pair of weights in all lanes. Two chains of sums are four rows a turn; one row that is left is a pair with nothing. In the
// end columns get their order back.

// CHECK-LABEL: func.func @values
// CHECK:         scf.for {{.*}} step %c4{{.*}} iter_args({{.*}}) -> (vector<16xf32>, vector<16xf32>, vector<16xf32>, vector<16xf32>)
// CHECK:           vector.load {{.*}} : memref<80xi16>, vector<2xi16>
// CHECK:           %[[L:.*]] = vector.bitcast {{.*}} : vector<32xbf16> to vector<32xi16>
// CHECK:           %[[H:.*]] = vector.bitcast {{.*}} : vector<32xbf16> to vector<32xi16>
// CHECK:           vector.shuffle %[[L]], %[[H]] [0, 32, 1, 33, 2, 34, 3, 35, 8, 40, 9, 41, 10, 42, 11, 43, 16, 48, 17, 49, 18, 50, 19, 51, 24, 56, 25, 57, 26, 58, 27, 59]
// CHECK:           llvm.call_intrinsic "llvm.x86.avx512bf16.dpbf16ps.512"
// CHECK:           vector.shuffle %[[L]], %[[H]] [4, 36, 5, 37, 6, 38, 7, 39, 12, 44, 13, 45, 14, 46, 15, 47, 20, 52, 21, 53, 22, 54, 23, 55, 28, 60, 29, 61, 30, 62, 31, 63]
// CHECK-COUNT-3:   llvm.call_intrinsic "llvm.x86.avx512bf16.dpbf16ps.512"
// CHECK:         scf.for {{.*}} step %c2
// CHECK:         scf.for {{.*}} step %c1
// CHECK:           arith.extui {{.*}} : i16 to i32
// CHECK:         vector.shuffle {{.*}} [0, 1, 2, 3, 16, 17, 18, 19, 4, 5, 6, 7, 20, 21, 22, 23]
// CHECK:         vector.shuffle {{.*}} [8, 9, 10, 11, 24, 25, 26, 27, 12, 13, 14, 15, 28, 29, 30, 31]
// CHECK:         return
// WIDE-LABEL: func.func @values
// WIDE-NOT:      dpbf16ps
func.func @values(%p: memref<1x?xbf16>, %v: memref<?x32xbf16>, %o: memref<1x32xf32>) {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  tile.kernel grid(%i) = (%c1) {
    %vp = tile.view %p axes(0, 1) : memref<1x?xbf16> -> !tile.view<1x?xbf16>
    %vv = tile.view %v axes(0, 1) : memref<?x32xbf16> -> !tile.view<?x32xbf16>
    %vo = tile.view %o axes(0, 1) : memref<1x32xf32> -> !tile.view<1x32xf32>
    %tp = tile.load %vp[%c0, %c0] : !tile.view<1x?xbf16> -> !tile.tile<1x64xbf16>
    %tv = tile.load %vv[%c0, %c0] : !tile.view<?x32xbf16> -> !tile.tile<64x32xbf16>
    %d = tile.dot %tp, %tv : !tile.tile<1x64xbf16>, !tile.tile<64x32xbf16> -> !tile.tile<1x32xf32>
    tile.store %d, %vo[%c0, %c0] : !tile.tile<1x32xf32>, !tile.view<1x32xf32>
  }
  return
}

// Scores of bf16 are pairs along the rows already.
// CHECK-LABEL: func.func @scores
// CHECK:         vector.load {{.*}} : memref<?xbf16>, vector<32xbf16>
// CHECK-COUNT-16: llvm.call_intrinsic "llvm.x86.avx512bf16.dpbf16ps.512"
// CHECK:         vector.shuffle {{.*}} [0, 2, 16, 18, 4, 6, 20, 22, 8, 10, 24, 26, 12, 14, 28, 30]
// CHECK-NOT:     dpbf16ps
// CHECK:         return
func.func @scores(%q: memref<1x32xbf16>, %k: memref<16x32xbf16>, %s: memref<1x16xf32>) {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  tile.kernel grid(%i) = (%c1) {
    %vq = tile.view %q axes(0, 1) : memref<1x32xbf16> -> !tile.view<1x32xbf16>
    %vk = tile.view %k axes(0, 1) : memref<16x32xbf16> -> !tile.view<16x32xbf16>
    %vs = tile.view %s axes(0, 1) : memref<1x16xf32> -> !tile.view<1x16xf32>
    %tq = tile.load %vq[%c0, %c0] : !tile.view<1x32xbf16> -> !tile.tile<1x32xbf16>
    %tk = tile.load %vk[%c0, %c0] : !tile.view<16x32xbf16> -> !tile.tile<16x32xbf16>
    %d = tile.dot %tq, %tk transpose_b : !tile.tile<1x32xbf16>, !tile.tile<16x32xbf16> -> !tile.tile<1x16xf32>
    tile.store %d, %vs[%c0, %c0] : !tile.tile<1x16xf32>, !tile.view<1x16xf32>
  }
  return
}
