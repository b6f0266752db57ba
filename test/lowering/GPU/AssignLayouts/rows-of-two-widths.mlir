// RUN: fovea-opt %s --fovea-assign-layouts | FileCheck %s

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
