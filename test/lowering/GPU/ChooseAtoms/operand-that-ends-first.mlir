// RUN: fovea-opt %s --fovea-choose-atoms=tensor-cores=false | FileCheck %s --check-prefix=NONE
// RUN: fovea-opt %s --fovea-choose-atoms --fovea-stage-operands --fovea-assign-layouts | FileCheck %s

// NONE-NOT: atom

// Where one operand ends before the other both are read in place, without an atom. The warps then stand as the other
// product's 16 rows need them, beside each other, so that its computed operand goes to shared memory.
// CHECK-LABEL: func.func private @ends
func.func private @ends(%x: memref<?x48xf32>, %w: memref<64x64xf32>, %y: memref<?x64xf32>, %n: index) {
  %c0 = arith.constant 0 : index
  %xv = tile.view %x axes(0, 1) : memref<?x48xf32> -> !tile.view<?x48xf32>
  %wv = tile.view %w axes(0, 1) : memref<64x64xf32> -> !tile.view<64x64xf32>
  %yv = tile.view %y axes(0, 1) : memref<?x64xf32> -> !tile.view<?x64xf32>
  tile.kernel grid(%i) = (%n) {
    %a = tile.load %xv[%i, %c0] : !tile.view<?x48xf32> -> !tile.tile<64x64xf32>
    %b = tile.load %wv[%c0, %c0] : !tile.view<64x64xf32> -> !tile.tile<64x64xf32>
    // CHECK-NOT: atom
    // CHECK: tile.mma %{{.*}}, %{{.*}} transpose_b into %{{[a-z0-9_]+}} : !tile.tile<64x64xf32>, !tile.tile<64x64xf32>
    %s = tile.dot %a, %b transpose_b : !tile.tile<64x64xf32>, !tile.tile<64x64xf32> -> !tile.tile<64x64xf32>
    tile.store %s, %yv[%i, %c0] : !tile.tile<64x64xf32>, !tile.view<?x64xf32>
    %c = tile.load %yv[%i, %c0] : !tile.view<?x64xf32> -> !tile.tile<16x64xf32>
    %d = tile.map(%u = %c) : (!tile.tile<16x64xf32>) -> !tile.tile<16x64xf32> {
      %0 = arith.mulf %u, %u : f32
      tile.yield %0 : f32
    }
    // CHECK: tile.local_store
    // CHECK: tile.mma {{.*}} atom(m16n8k8) : !tile.shared<16x64xf32, strides [68, 1]>
    %t = tile.dot %d, %b transpose_b : !tile.tile<16x64xf32>, !tile.tile<64x64xf32> -> !tile.tile<16x64xf32>
    tile.store %t, %yv[%i, %c0] : !tile.tile<16x64xf32>, !tile.view<?x64xf32>
  }
  return
}
