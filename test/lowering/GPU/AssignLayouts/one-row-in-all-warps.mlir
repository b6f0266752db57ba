// RUN: fovea-opt %s --fovea-assign-layouts | FileCheck %s

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
