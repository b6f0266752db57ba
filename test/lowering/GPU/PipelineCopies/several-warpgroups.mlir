// RUN: fovea-opt %s --fovea-pipeline-copies=limit=80000 | FileCheck %s --check-prefix=SMALL

// A block of several warpgroups shares its multiprocessor with no other, so it may have all memory.
// SMALL-LABEL: func.func private @several
func.func private @several(%x: memref<?x192xf32>, %w: memref<64x192xf32>, %y: memref<?x64xf32>, %zero: !tile.tile<64x64xf32>, %n: index) attributes {fovea.threads = 256 : i32} {
  %c0 = arith.constant 0 : index
  %c32 = arith.constant 32 : index
  %c192 = arith.constant 192 : index
  %xv = tile.view %x axes(0, 1) : memref<?x192xf32> -> !tile.view<?x192xf32>
  %wv = tile.view %w axes(0, 1) : memref<64x192xf32> -> !tile.view<64x192xf32>
  %yv = tile.view %y axes(0, 1) : memref<?x64xf32> -> !tile.view<?x64xf32>
  tile.kernel grid(%i) = (%n) {
    // SMALL: tile.shared stages(3) : !tile.shared<64x32xf32, strides [36, 1]>
    %xs = tile.shared : !tile.shared<64x32xf32, strides [36, 1]>
    %ws = tile.shared : !tile.shared<64x32xf32, strides [36, 1]>
    %s = scf.for %k = %c0 to %c192 step %c32 iter_args(%sum = %zero) -> (!tile.tile<64x64xf32>) {
      tile.copy %xv[%i, %k] to %xs : !tile.view<?x192xf32>, !tile.shared<64x32xf32, strides [36, 1]>
      tile.copy %wv[%i, %k] to %ws : !tile.view<64x192xf32>, !tile.shared<64x32xf32, strides [36, 1]>
      %next = tile.mma %xs, %ws transpose_b into %sum : !tile.shared<64x32xf32, strides [36, 1]>, !tile.shared<64x32xf32, strides [36, 1]> -> !tile.tile<64x64xf32>
      scf.yield %next : !tile.tile<64x64xf32>
    }
    tile.store %s, %yv[%i, %c0] : !tile.tile<64x64xf32>, !tile.view<?x64xf32>
  }
  return
}
