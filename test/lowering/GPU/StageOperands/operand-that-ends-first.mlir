// RUN: fovea-opt %s --fovea-stage-operands --verify-diagnostics | FileCheck %s

// Where only one of two views ends, the other may hold what is no number: such k are left out by reading in place.
// CHECK-LABEL: func.func private @opposite
func.func private @opposite(%x: memref<6x20xf32>, %z: memref<18x24xf32>, %y: memref<6x18xf32>, %n: index) {
  %c0 = arith.constant 0 : index
  %xv = tile.view %x axes(0, 1) : memref<6x20xf32> -> !tile.view<6x20xf32>
  %zv = tile.view %z axes(0, 1) : memref<18x24xf32> -> !tile.view<18x24xf32>
  %yv = tile.view %y axes(0, 1) : memref<6x18xf32> -> !tile.view<6x18xf32>
  tile.kernel grid(%i) = (%n) {
    // CHECK-NOT: tile.copy
    // CHECK: tile.mma %{{.*}}, %{{.*}} transpose_b into %{{.*}} : !tile.tile<6x24xf32>, !tile.tile<18x24xf32> -> !tile.tile<6x18xf32>
    %u = tile.load %xv[%c0, %c0] : !tile.view<6x20xf32> -> !tile.tile<6x24xf32>
    %v = tile.load %zv[%c0, %c0] : !tile.view<18x24xf32> -> !tile.tile<18x24xf32>
    %p = tile.dot %u, %v transpose_b : !tile.tile<6x24xf32>, !tile.tile<18x24xf32> -> !tile.tile<6x18xf32>
    tile.store %p, %yv[%c0, %c0] : !tile.tile<6x18xf32>, !tile.view<6x18xf32>
  }
  return
}
