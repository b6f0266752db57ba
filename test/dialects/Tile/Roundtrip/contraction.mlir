// RUN: fovea-opt %s --verify-roundtrip | FileCheck %s

// A linear layer of few outputs: rows in chunks, a panel of outputs a block.
// CHECK-LABEL: func.func private @contraction
func.func private @contraction(%x: memref<?x384xf32>, %w: memref<96x384x16xf32>, %bias: memref<1536xf32>, %y: memref<?x1536xf32>) {
  %c0 = arith.constant 0 : index
  %c32 = arith.constant 32 : index
  %c48 = arith.constant 48 : index
  %c64 = arith.constant 64 : index
  %rows = memref.dim %x, %c0 : memref<?x384xf32>
  // CHECK: tile.view %{{.*}} axes(0, 1) : memref<?x384xf32> -> !tile.view<?x384xf32>
  %xv = tile.view %x axes(0, 1) : memref<?x384xf32> -> !tile.view<?x384xf32>
  // CHECK: tile.packed
  %wv = tile.packed %w : memref<96x384x16xf32> -> !tile.view<1536x384xf32>
  %bv = tile.view %bias axes(0) : memref<1536xf32> -> !tile.view<1x1536xf32>
  %yv = tile.view %y axes(0, 1) : memref<?x1536xf32> -> !tile.view<?x1536xf32>
  // CHECK: tile.kernel grid(%{{.*}}) = (%{{.*}}) {
  tile.kernel grid(%n) = (%c32) {
    %j = arith.muli %n, %c48 : index
    %b = tile.load %wv[%j, %c0] : !tile.view<1536x384xf32> -> !tile.tile<48x384xf32>
    %bias0 = tile.load %bv[%c0, %j] : !tile.view<1x1536xf32> -> !tile.tile<1x48xf32>
    %bias1 = tile.broadcast %bias0 : !tile.tile<1x48xf32> -> !tile.tile<64x48xf32>
    scf.for %i = %c0 to %rows step %c64 {
      %a = tile.load %xv[%i, %c0] : !tile.view<?x384xf32> -> !tile.tile<64x384xf32>
      // CHECK: tile.dot %{{.*}}, %{{.*}} transpose_b block(8, 48)
      %s = tile.dot %a, %b transpose_b block(8, 48) : !tile.tile<64x384xf32>, !tile.tile<48x384xf32> -> !tile.tile<64x48xf32>
      // CHECK: tile.map(%{{.*}} = %{{.*}}, %{{.*}} = %{{.*}}) : (!tile.tile<64x48xf32>, !tile.tile<64x48xf32>) -> !tile.tile<64x48xf32> {
      %t = tile.map(%u = %s, %v = %bias1) : (!tile.tile<64x48xf32>, !tile.tile<64x48xf32>) -> !tile.tile<64x48xf32> {
        %0 = arith.addf %u, %v : f32
        tile.yield %0 : f32
      }
      tile.store %t, %yv[%i, %j] : !tile.tile<64x48xf32>, !tile.view<?x1536xf32>
    }
  }
  return
}
