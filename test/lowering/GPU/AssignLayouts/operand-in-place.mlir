// RUN: fovea-opt %s --fovea-assign-layouts | FileCheck %s

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
