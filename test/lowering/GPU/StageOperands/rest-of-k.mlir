// RUN: fovea-opt %s --fovea-stage-operands --verify-diagnostics | FileCheck %s

// What is left of k stands behind the loop.
// CHECK-LABEL: func.func private @rest
func.func private @rest(%x: memref<?x72xf32>, %w: memref<64x72xf32>, %y: memref<?x64xf32>, %n: index) {
  %c0 = arith.constant 0 : index
  %xv = tile.view %x axes(0, 1) : memref<?x72xf32> -> !tile.view<?x72xf32>
  %wv = tile.view %w axes(0, 1) : memref<64x72xf32> -> !tile.view<64x72xf32>
  %yv = tile.view %y axes(0, 1) : memref<?x64xf32> -> !tile.view<?x64xf32>
  tile.kernel grid(%i) = (%n) {
    // CHECK: %[[END:.*]] = arith.constant 64 : index
    // CHECK: scf.for %{{.*}} = %{{.*}} to %[[END]]
    // CHECK: tile.mma %{{.*}} : !tile.shared<64x32xf32, strides [36, 1]>, !tile.shared<64x32xf32, strides [1, 68]>
    // CHECK: }
    // CHECK: tile.mma %{{.*}} : !tile.shared<64x8xf32, strides [12, 1]>, !tile.shared<64x8xf32, strides [1, 68]>
    %a = tile.load %xv[%i, %c0] : !tile.view<?x72xf32> -> !tile.tile<64x72xf32>
    %b = tile.load %wv[%c0, %c0] : !tile.view<64x72xf32> -> !tile.tile<64x72xf32>
    %s = tile.dot %a, %b transpose_b : !tile.tile<64x72xf32>, !tile.tile<64x72xf32> -> !tile.tile<64x64xf32>
    tile.store %s, %yv[%i, %c0] : !tile.tile<64x64xf32>, !tile.view<?x64xf32>
  }
  return
}
