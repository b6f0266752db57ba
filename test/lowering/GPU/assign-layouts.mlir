// RUN: fovea-opt %s --fovea-assign-layouts --split-input-file | FileCheck %s

// Sixteen threads share a row, as the largest tile has 64 columns; a narrower one of the same rows has its rows where the
// wide one has them, so the maximum of rows needs no conversion.
// CHECK-DAG: #[[$WIDE:.*]] = #tile.layout<rows = [threads 8 by 16, registers 8], columns = [registers 4, threads 16 by 1]>
// CHECK-DAG: #[[$NARROW:.*]] = #tile.layout<rows = [threads 8 by 16, registers 8], columns = [registers 2, threads 16 by 1]>
// CHECK-DAG: #[[$ODD:.*]] = #tile.layout<rows = [threads 8 by 16, registers 8], columns = [threads 16 by 1, registers 3]>
// CHECK-DAG: #[[$ROWS:.*]] = #tile.layout<rows = [threads 8 by 16, registers 8], columns = []>
// CHECK-LABEL: func.func private @rows
// CHECK-SAME: fovea.threads = 128 : i32
func.func private @rows(%x: memref<?x64xf32>, %y: memref<?x32xf32>, %n: index) {
  %c0 = arith.constant 0 : index
  %xv = tile.view %x axes(0, 1) : memref<?x64xf32> -> !tile.view<?x64xf32>
  %yv = tile.view %y axes(0, 1) : memref<?x32xf32> -> !tile.view<?x32xf32>
  tile.kernel grid(%i) = (%n) {
    // CHECK: tile.load {{.*}} -> !tile.tile<64x64xf32, #[[$WIDE]]>
    %a = tile.load %xv[%i, %c0] : !tile.view<?x64xf32> -> !tile.tile<64x64xf32>
    // CHECK-NOT: tile.cast
    %t = tile.cast %a : !tile.tile<64x64xf32> -> !tile.tile<64x64xf32, lanes 0>
    // CHECK: tile.reduce maximum {{.*}} : !tile.tile<64x64xf32, #[[$WIDE]]> -> !tile.tile<64x1xf32, #[[$ROWS]]>
    %m = tile.reduce maximum %t axis(1) : !tile.tile<64x64xf32, lanes 0> -> !tile.tile<64x1xf32, lanes 0>
    // CHECK: tile.broadcast {{.*}} -> !tile.tile<64x32xf32, #[[$NARROW]]>
    %b = tile.broadcast %m : !tile.tile<64x1xf32, lanes 0> -> !tile.tile<64x32xf32, lanes 0>
    // CHECK: tile.broadcast {{.*}} -> !tile.tile<64x40xf32, #[[$ODD]]>
    %o = tile.broadcast %m : !tile.tile<64x1xf32, lanes 0> -> !tile.tile<64x40xf32, lanes 0>
    %p = tile.cast %b : !tile.tile<64x32xf32, lanes 0> -> !tile.tile<64x32xf32>
    tile.store %p, %yv[%i, %c0] : !tile.tile<64x32xf32>, !tile.view<?x32xf32>
  }
  return
}

// -----

// One row lies in all warps, whose sums meet in shared memory; sums of columns too.
// CHECK-DAG: #[[$ROW:.*]] = #tile.layout<rows = [], columns = [registers 4, threads 128 by 1]>
// CHECK-DAG: #[[$ONE:.*]] = #tile.layout<rows = [], columns = []>
// CHECK-LABEL: func.func private @one_row
func.func private @one_row(%x: memref<?x512xf32>, %y: memref<?x1xf32>, %n: index) {
  %c0 = arith.constant 0 : index
  %xv = tile.view %x axes(0, 1) : memref<?x512xf32> -> !tile.view<?x512xf32>
  %yv = tile.view %y axes(0, 1) : memref<?x1xf32> -> !tile.view<?x1xf32>
  tile.kernel grid(%i) = (%n) {
    // CHECK: %[[SCRATCH:.*]] = tile.shared : !tile.shared<128x1xf32>
    %a = tile.load %xv[%i, %c0] : !tile.view<?x512xf32> -> !tile.tile<1x512xf32>
    // CHECK: tile.reduce sum %{{.*}} axis(1) scratch(%[[SCRATCH]] : !tile.shared<128x1xf32>) : !tile.tile<1x512xf32, #[[$ROW]]> -> !tile.tile<1x1xf32, #[[$ONE]]>
    %m = tile.reduce sum %a axis(1) : !tile.tile<1x512xf32> -> !tile.tile<1x1xf32>
    tile.store %m, %yv[%i, %c0] : !tile.tile<1x1xf32>, !tile.view<?x1xf32>
  }
  return
}

// -----

// CHECK-DAG: #[[$TALL:.*]] = #tile.layout<rows = [threads 8 by 16, registers 2], columns = [registers 4, threads 16 by 1]>
// CHECK-LABEL: func.func private @columns
func.func private @columns(%x: memref<?x64xf32>, %y: memref<?x64xf32>, %n: index) {
  %c0 = arith.constant 0 : index
  %xv = tile.view %x axes(0, 1) : memref<?x64xf32> -> !tile.view<?x64xf32>
  %yv = tile.view %y axes(0, 1) : memref<?x64xf32> -> !tile.view<?x64xf32>
  tile.kernel grid(%i) = (%n) {
    // CHECK: %[[SCRATCH:.*]] = tile.shared : !tile.shared<128x4xf32>
    %a = tile.load %xv[%i, %c0] : !tile.view<?x64xf32> -> !tile.tile<16x64xf32>
    // CHECK: tile.reduce sum %{{.*}} axis(0) scratch(%[[SCRATCH]]
    %m = tile.reduce sum %a axis(0) : !tile.tile<16x64xf32> -> !tile.tile<1x64xf32>
    tile.store %m, %yv[%i, %c0] : !tile.tile<1x64xf32>, !tile.view<?x64xf32>
  }
  return
}

// -----

// What a product reads in place is held by no thread; what a loop carries has one layout all around.
// CHECK-LABEL: func.func private @in_place
func.func private @in_place(%w: memref<64x192xf32>, %x: memref<?x192xf32>, %y: memref<?x64xf32>, %n: index) {
  %c0 = arith.constant 0 : index
  %c64 = arith.constant 64 : index
  %zero = arith.constant 0.0 : f32
  %wv = tile.view %w axes(0, 1) : memref<64x192xf32> -> !tile.view<64x192xf32>
  %xv = tile.view %x axes(0, 1) : memref<?x192xf32> -> !tile.view<?x192xf32>
  %yv = tile.view %y axes(0, 1) : memref<?x64xf32> -> !tile.view<?x64xf32>
  tile.kernel grid(%i) = (%n) {
    %xs = tile.shared : !tile.shared<1x64xf32>
    %start = tile.splat %zero : !tile.tile<1x64xf32>
    // CHECK: scf.for {{.*}} -> (!tile.tile<1x64xf32, #[[LAYOUT:.*]]>)
    %sum = scf.for %k = %c0 to %n step %c64 iter_args(%acc = %start) -> (!tile.tile<1x64xf32>) {
      tile.copy %xv[%i, %k] to %xs : !tile.view<?x192xf32>, !tile.shared<1x64xf32>
      // CHECK: tile.load {{.*}} -> !tile.tile<64x64xf32>{{$}}
      %b = tile.load %wv[%c0, %k] : !tile.view<64x192xf32> -> !tile.tile<64x64xf32>
      // CHECK: tile.mma {{.*}} -> !tile.tile<1x64xf32, #[[LAYOUT]]>
      %next = tile.mma %xs, %b transpose_b into %acc : !tile.shared<1x64xf32>, !tile.tile<64x64xf32> -> !tile.tile<1x64xf32>
      scf.yield %next : !tile.tile<1x64xf32>
    }
    tile.store %sum, %yv[%i, %c0] : !tile.tile<1x64xf32>, !tile.view<?x64xf32>
  }
  return
}

// -----

// One row of 32 outputs has copies in the block's other warps: they share what streams from memory, and meet.
// CHECK: #[[$ONE:.*]] = #tile.layout<rows = [], columns = [threads 32 by 1]>
// CHECK-LABEL: func.func private @one_row
func.func private @one_row(%x: memref<1x128xf32>, %w: memref<1x16x32x8xbf16>, %xs: !tile.shared<1x128xf32>, %y: memref<1x32xf32>) {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %zero = arith.constant 0.0 : f32
  %wv = tile.packed %w : memref<1x16x32x8xbf16> -> !tile.view<32x128xbf16>
  %yv = tile.view %y axes(0, 1) : memref<1x32xf32> -> !tile.view<1x32xf32>
  tile.kernel grid(%b) = (%c1) {
    // CHECK: %[[BOTH:.*]] = tile.shared : !tile.shared<128x1xf32>
    // CHECK: tile.mma {{.*}} scratch(%[[BOTH]] : !tile.shared<128x1xf32>) : {{.*}} -> !tile.tile<1x32xf32, #[[$ONE]]>
    %wt = tile.load %wv[%c0, %c0] : !tile.view<32x128xbf16> -> !tile.tile<32x128xbf16>
    %none = tile.splat %zero : !tile.tile<1x32xf32>
    %sum = tile.mma %xs, %wt transpose_b into %none : !tile.shared<1x128xf32>, !tile.tile<32x128xbf16> -> !tile.tile<1x32xf32>
    tile.store %sum, %yv[%c0, %c0] : !tile.tile<1x32xf32>, !tile.view<1x32xf32>
  }
  return
}
