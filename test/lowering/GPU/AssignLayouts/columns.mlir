// RUN: fovea-opt %s --fovea-assign-layouts | FileCheck %s

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
