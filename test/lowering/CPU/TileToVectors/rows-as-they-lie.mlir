// RUN: fovea-opt %s --pass-pipeline='builtin.module(func.func(fovea-tile-to-vectors{target=avx512}))' | FileCheck %s
// RUN: fovea-opt %s --pass-pipeline='builtin.module(func.func(fovea-tile-to-vectors{target=avx512bf16}))' | FileCheck %s --check-prefix=PAIRS

// Rows of memory that a loop walks, as one query's attention walks values: they are read in their order, from which the
// processor foresees what comes, and nothing is fetched ahead. A block has as many columns as its sums allow, so that it
// reads whole rows: of 4 x 64 given, 1 x 128 for one row, 2 x 128 for more. A fence keeps the loads of a row before those of the next.

// CHECK-LABEL: func.func @one
// CHECK-NOT:     prefetch
// CHECK:         scf.for {{.*}} step %c4{{.*}} iter_args({{(%[a-z0-9_]+ = %[a-z0-9_]+, ){7}%[a-z0-9_]+ = %[a-z0-9_]+}})
// CHECK-COUNT-8: vector.load {{.*}} : memref<?xf32{{.*}}>, vector<16xf32>
// CHECK-NOT:     vector.load {{.*}} vector<16xf32>
// CHECK:         llvm.fence syncscope("singlethread") acq_rel
// CHECK-NOT:     prefetch
// CHECK:         return
func.func @one(%p: memref<1x256xf32>, %v: memref<256x128xf32>, %o: memref<1x128xf32>) {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %c64 = arith.constant 64 : index
  %c256 = arith.constant 256 : index
  %zero = arith.constant 0.0 : f32
  tile.kernel grid(%i) = (%c1) {
    %vp = tile.view %p axes(0, 1) : memref<1x256xf32> -> !tile.view<1x256xf32>
    %vv = tile.view %v axes(0, 1) : memref<256x128xf32> -> !tile.view<256x128xf32>
    %vo = tile.view %o axes(0, 1) : memref<1x128xf32> -> !tile.view<1x128xf32>
    %begin = tile.splat %zero : !tile.tile<1x128xf32>
    %s = scf.for %k = %c0 to %c256 step %c64 iter_args(%sum = %begin) -> !tile.tile<1x128xf32> {
      %tp = tile.load %vp[%c0, %k] : !tile.view<1x256xf32> -> !tile.tile<1x64xf32>
      %tv = tile.load %vv[%k, %c0] : !tile.view<256x128xf32> -> !tile.tile<64x128xf32>
      %d = tile.dot %tp, %tv into %sum block(4, 64) : !tile.tile<1x64xf32>, !tile.tile<64x128xf32> -> !tile.tile<1x128xf32>
      scf.yield %d : !tile.tile<1x128xf32>
    }
    tile.store %s, %vo[%c0, %c0] : !tile.tile<1x128xf32>, !tile.view<1x128xf32>
  }
  return
}

// Several blocks read them, sixteen rows of memory for all blocks before the next sixteen, which the nearest cache holds.
// CHECK-LABEL: func.func @several
// CHECK:         scf.for %[[FROM:.*]] = %c0{{.*}} to %{{.*}} step %c16 {
// CHECK:           scf.for %{{.*}} = %c0{{.*}} to %c8{{.*}} step %c2 {
// CHECK-COUNT-16:    vector.load %alloca[{{.*}}] {{.*}} : memref<{{.*}}xf32>, vector<16xf32>
// CHECK-NOT:         vector.store
// CHECK:             scf.for {{.*}} step %c4
// CHECK-COUNT-16:    vector.store %{{.*}}, %alloca[{{.*}}] {{.*}} : memref<{{.*}}xf32>, vector<16xf32>
func.func @several(%p: memref<8x256xf32>, %v: memref<256x128xf32>, %o: memref<8x128xf32>) {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %c64 = arith.constant 64 : index
  %c256 = arith.constant 256 : index
  %zero = arith.constant 0.0 : f32
  tile.kernel grid(%i) = (%c1) {
    %vp = tile.view %p axes(0, 1) : memref<8x256xf32> -> !tile.view<8x256xf32>
    %vv = tile.view %v axes(0, 1) : memref<256x128xf32> -> !tile.view<256x128xf32>
    %vo = tile.view %o axes(0, 1) : memref<8x128xf32> -> !tile.view<8x128xf32>
    %begin = tile.splat %zero : !tile.tile<8x128xf32>
    %s = scf.for %k = %c0 to %c256 step %c64 iter_args(%sum = %begin) -> !tile.tile<8x128xf32> {
      %tp = tile.load %vp[%c0, %k] : !tile.view<8x256xf32> -> !tile.tile<8x64xf32>
      %tv = tile.load %vv[%k, %c0] : !tile.view<256x128xf32> -> !tile.tile<64x128xf32>
      %d = tile.dot %tp, %tv into %sum block(4, 64) : !tile.tile<8x64xf32>, !tile.tile<64x128xf32> -> !tile.tile<8x128xf32>
      scf.yield %d : !tile.tile<8x128xf32>
    }
    tile.store %s, %vo[%c0, %c0] : !tile.tile<8x128xf32>, !tile.view<8x128xf32>
  }
  return
}

// The same of pairs of bf16, whose sums keep the order that they have in registers until all rows are added. The first four
// rows of weights fetch what the others read, too.
// PAIRS-LABEL: func.func @pairs
// PAIRS:         scf.for %{{.*}} = %c0{{.*}} to %{{.*}} step %c16 {
// PAIRS:           scf.for %{{.*}} = %c0{{.*}} to %c128{{.*}} step %c64
// PAIRS:             memref.prefetch
// PAIRS-COUNT-16:    llvm.call_intrinsic "llvm.x86.avx512bf16.dpbf16ps.512"
// PAIRS:           scf.for %{{.*}} = %c0{{.*}} to %c128{{.*}} step %c64
// PAIRS-NOT:         memref.prefetch
// PAIRS:             llvm.call_intrinsic "llvm.x86.avx512bf16.dpbf16ps.512"
// PAIRS-NOT:         memref.prefetch
// PAIRS:         vector.shuffle {{.*}} [0, 1, 2, 3, 16, 17, 18, 19, 4, 5, 6, 7, 20, 21, 22, 23]
// PAIRS:         return
func.func @pairs(%p: memref<8x256xbf16>, %v: memref<256x128xbf16>, %o: memref<8x128xf32>) {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %c64 = arith.constant 64 : index
  %c256 = arith.constant 256 : index
  %zero = arith.constant 0.0 : f32
  tile.kernel grid(%i) = (%c1) {
    %vp = tile.view %p axes(0, 1) : memref<8x256xbf16> -> !tile.view<8x256xbf16>
    %vv = tile.view %v axes(0, 1) : memref<256x128xbf16> -> !tile.view<256x128xbf16>
    %vo = tile.view %o axes(0, 1) : memref<8x128xf32> -> !tile.view<8x128xf32>
    %begin = tile.splat %zero : !tile.tile<8x128xf32>
    %s = scf.for %k = %c0 to %c256 step %c64 iter_args(%sum = %begin) -> !tile.tile<8x128xf32> {
      %tp = tile.load %vp[%c0, %k] : !tile.view<8x256xbf16> -> !tile.tile<8x64xbf16>
      %tv = tile.load %vv[%k, %c0] : !tile.view<256x128xbf16> -> !tile.tile<64x128xbf16>
      %d = tile.dot %tp, %tv into %sum : !tile.tile<8x64xbf16>, !tile.tile<64x128xbf16> -> !tile.tile<8x128xf32>
      scf.yield %d : !tile.tile<8x128xf32>
    }
    tile.store %s, %vo[%c0, %c0] : !tile.tile<8x128xf32>, !tile.view<8x128xf32>
  }
  return
}
