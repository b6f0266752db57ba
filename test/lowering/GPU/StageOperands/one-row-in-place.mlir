// RUN: fovea-opt %s --fovea-stage-operands --verify-diagnostics | FileCheck %s

// One row uses each weight once: weights are read where they lie.
// CHECK-LABEL: func.func private @one_row
func.func private @one_row(%x: memref<?x192xf32>, %w: memref<32x192x16xf32>, %y: memref<?x512xf32>, %n: index) {
  %c0 = arith.constant 0 : index
  %xv = tile.view %x axes(0, 1) : memref<?x192xf32> -> !tile.view<?x192xf32>
  %wv = tile.packed %w : memref<32x192x16xf32> -> !tile.view<512x192xf32>
  %yv = tile.view %y axes(0, 1) : memref<?x512xf32> -> !tile.view<?x512xf32>
  tile.kernel grid(%i) = (%n) {
    // CHECK: %[[X:.*]] = tile.shared : !tile.shared<1x192xf32>
    // CHECK: tile.copy %{{.*}} to %[[X]]
    // CHECK: %[[W:.*]] = tile.load %{{.*}} : !tile.view<512x192xf32> -> !tile.tile<64x192xf32>
    // CHECK: tile.mma %[[X]], %[[W]] transpose_b into
    %a = tile.load %xv[%i, %c0] : !tile.view<?x192xf32> -> !tile.tile<1x192xf32>
    %b = tile.load %wv[%i, %c0] : !tile.view<512x192xf32> -> !tile.tile<64x192xf32>
    %s = tile.dot %a, %b transpose_b : !tile.tile<1x192xf32>, !tile.tile<64x192xf32> -> !tile.tile<1x64xf32>
    tile.store %s, %yv[%i, %c0] : !tile.tile<1x64xf32>, !tile.view<?x512xf32>
  }
  return
}
