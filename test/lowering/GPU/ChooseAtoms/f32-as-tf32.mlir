// RUN: fovea-opt %s --fovea-choose-atoms | FileCheck %s --check-prefix=CHOOSE
// RUN: fovea-opt %s --fovea-choose-atoms=tensor-cores=false | FileCheck %s --check-prefix=NONE
// RUN: fovea-opt %s --fovea-choose-atoms --fovea-stage-operands --fovea-assign-layouts | FileCheck %s

// NONE-NOT: atom

// f32 is multiplied as tf32. 32 rows are two warps' below each other, and two more stand beside them, so that a computed
// operand goes to shared memory, where all four find it.
// CHECK: #[[$WIDE:.*]] = #tile.layout<rows = [threads 8 by 4, registers 2, threads 2 by 32], columns = [registers 2, threads 4 by 1, registers 4, threads 2 by 64]>
// CHOOSE-LABEL: func.func private @wide
// CHECK-LABEL: func.func private @wide
func.func private @wide(%x: memref<?x64xf32>, %w: memref<4x32x16x2xbf16>, %y: memref<?x64xf32>, %n: index) {
  %c0 = arith.constant 0 : index
  %xv = tile.view %x axes(0, 1) : memref<?x64xf32> -> !tile.view<?x64xf32>
  %wv = tile.packed %w : memref<4x32x16x2xbf16> -> !tile.view<64x64xbf16>
  %yv = tile.view %y axes(0, 1) : memref<?x64xf32> -> !tile.view<?x64xf32>
  tile.kernel grid(%i) = (%n) {
    %a = tile.load %xv[%i, %c0] : !tile.view<?x64xf32> -> !tile.tile<32x64xf32>
    // CHECK: %[[X:.*]] = tile.map
    %s = tile.map(%u = %a) : (!tile.tile<32x64xf32>) -> !tile.tile<32x64xf32> {
      %0 = arith.mulf %u, %u : f32
      tile.yield %0 : f32
    }
    %b = tile.load %wv[%c0, %c0] : !tile.view<64x64xbf16> -> !tile.tile<64x64xbf16>
    // CHOOSE: tile.dot {{.*}} atom(m16n8k8)
    // CHECK: tile.local_store %[[X]] to %[[XS:.*]] : !tile.tile<32x64xf32, #[[$WIDE]]>, !tile.shared<32x64xf32, strides [68, 1]>
    // CHECK: tile.copy %{{.*}} to %[[WS:.*]] : !tile.view<64x64xbf16>, !tile.shared<64x64xbf16, strides [72, 1]>
    // CHECK: tile.mma %[[XS]], %[[WS]] transpose_b into %{{.*}} atom(m16n8k8)
    %t = tile.dot %s, %b transpose_b : !tile.tile<32x64xf32>, !tile.tile<64x64xbf16> -> !tile.tile<32x64xf32>
    tile.store %t, %yv[%i, %c0] : !tile.tile<32x64xf32>, !tile.view<?x64xf32>
  }
  return
}
