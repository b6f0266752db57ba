// RUN: fovea-opt %s --fovea-choose-atoms --split-input-file | FileCheck %s --check-prefix=CHOOSE
// RUN: fovea-opt %s --fovea-choose-atoms=tensor-cores=false --split-input-file | FileCheck %s --check-prefix=NONE
// RUN: fovea-opt %s --fovea-choose-atoms --fovea-stage-operands --fovea-assign-layouts --split-input-file | FileCheck %s

// NONE-NOT: atom

// Attention: four warps below each other, 16 queries each. Queries stay in registers; so do the softmax's weights, whose
// layout as the first product's sums is what the second takes. Keys and values lie in shared memory as in memory.
// CHECK-DAG: #[[$ROWS:.*]] = #tile.layout<rows = [threads 8 by 4, registers 2, threads 4 by 32], columns = []>
// CHECK-DAG: #[[$SUMS:.*]] = #tile.layout<rows = [threads 8 by 4, registers 2, threads 4 by 32], columns = [registers 2, threads 4 by 1, registers 8]>
// CHOOSE-LABEL: func.func private @attention
// CHECK-LABEL: func.func private @attention
func.func private @attention(%q: memref<?x64xbf16>, %k: memref<?x64xbf16>, %v: memref<?x64xbf16>, %y: memref<?x64xf32>, %n: index) {
  %c0 = arith.constant 0 : index
  %c64 = arith.constant 64 : index
  %zero = arith.constant 0.0 : f32
  %qv = tile.view %q axes(0, 1) : memref<?x64xbf16> -> !tile.view<?x64xbf16>
  %kv = tile.view %k axes(0, 1) : memref<?x64xbf16> -> !tile.view<?x64xbf16>
  %vv = tile.view %v axes(0, 1) : memref<?x64xbf16> -> !tile.view<?x64xbf16>
  %yv = tile.view %y axes(0, 1) : memref<?x64xf32> -> !tile.view<?x64xf32>
  tile.kernel grid(%i) = (%n) {
    // CHECK: %[[Q:.*]] = tile.load %{{.*}} -> !tile.tile<64x64xbf16, #[[$SUMS]]>
    %a = tile.load %qv[%i, %c0] : !tile.view<?x64xbf16> -> !tile.tile<64x64xbf16>
    %none = tile.splat %zero : !tile.tile<64x64xf32>
    %o = scf.for %j = %c0 to %n step %c64 iter_args(%sum = %none) -> (!tile.tile<64x64xf32>) {
      %kt = tile.load %kv[%j, %c0] : !tile.view<?x64xbf16> -> !tile.tile<64x64xbf16>
      %vt = tile.load %vv[%j, %c0] : !tile.view<?x64xbf16> -> !tile.tile<64x64xbf16>
      // CHOOSE: tile.dot %{{.*}}, %{{.*}} transpose_b atom(m16n8k16)
      // CHECK: tile.copy %{{.*}} to %[[K:.*]] : !tile.view<?x64xbf16>, !tile.shared<64x64xbf16, strides [72, 1]>
      // CHECK: tile.mma %[[Q]], %[[K]] transpose_b into %{{.*}} atom(m16n8k16) : {{.*}} -> !tile.tile<64x64xf32, #[[$SUMS]]>
      %s = tile.dot %a, %kt transpose_b : !tile.tile<64x64xbf16>, !tile.tile<64x64xbf16> -> !tile.tile<64x64xf32>
      // CHECK: tile.reduce maximum %{{.*}} axis(1) : !tile.tile<64x64xf32, #[[$SUMS]]> -> !tile.tile<64x1xf32, #[[$ROWS]]>
      %m = tile.reduce maximum %s axis(1) : !tile.tile<64x64xf32> -> !tile.tile<64x1xf32>
      %wide = tile.broadcast %m : !tile.tile<64x1xf32> -> !tile.tile<64x64xf32>
      %p = tile.map(%x = %s, %z = %wide) : (!tile.tile<64x64xf32>, !tile.tile<64x64xf32>) -> !tile.tile<64x64xf32> {
        %0 = arith.subf %x, %z : f32
        tile.yield %0 : f32
      }
      // Past the values' end they are zero; opposite of that must stand a number.
      // CHECK: %[[CLEAR:.*]] = scf.if
      // CHECK: arith.select
      // CHECK: %[[P:.*]] = tile.cast %[[CLEAR]] : {{.*}} -> !tile.tile<64x64xbf16, #[[$SUMS]]>
      // CHECK: tile.copy %{{.*}} to %[[V:.*]] : !tile.view<?x64xbf16>, !tile.shared<64x64xbf16, strides [72, 1]>
      // CHECK: tile.mma %[[P]], %[[V]] into %{{.*}} atom(m16n8k16)
      %pn = tile.cast %p : !tile.tile<64x64xf32> -> !tile.tile<64x64xbf16>
      // CHOOSE: tile.dot %{{.*}}, %{{.*}} into %{{.*}} atom(m16n8k16)
      %next = tile.dot %pn, %vt into %sum : !tile.tile<64x64xbf16>, !tile.tile<64x64xbf16> -> !tile.tile<64x64xf32>
      scf.yield %next : !tile.tile<64x64xf32>
    }
    tile.store %o, %yv[%i, %c0] : !tile.tile<64x64xf32>, !tile.view<?x64xf32>
  }
  return
}

// -----

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
    // CHECK: tile.put %[[X]] to %[[XS:.*]] : !tile.tile<32x64xf32, #[[$WIDE]]>, !tile.shared<32x64xf32, strides [68, 1]>
    // CHECK: tile.copy %{{.*}} to %[[WS:.*]] : !tile.view<64x64xbf16>, !tile.shared<64x64xbf16, strides [72, 1]>
    // CHECK: tile.mma %[[XS]], %[[WS]] transpose_b into %{{.*}} atom(m16n8k8)
    %t = tile.dot %s, %b transpose_b : !tile.tile<32x64xf32>, !tile.tile<64x64xbf16> -> !tile.tile<32x64xf32>
    tile.store %t, %yv[%i, %c0] : !tile.tile<32x64xf32>, !tile.view<?x64xf32>
  }
  return
}

// -----

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
    // CHECK: tile.put
    // CHECK: tile.mma {{.*}} atom(m16n8k8) : !tile.shared<16x64xf32, strides [68, 1]>
    %t = tile.dot %d, %b transpose_b : !tile.tile<16x64xf32>, !tile.tile<64x64xf32> -> !tile.tile<16x64xf32>
    tile.store %t, %yv[%i, %c0] : !tile.tile<16x64xf32>, !tile.view<?x64xf32>
  }
  return
}

// -----

// Few rows are multiplied by element.
// CHOOSE-LABEL: func.func private @few
// CHOOSE-NOT: atom
func.func private @few(%x: memref<?x64xbf16>, %w: memref<64x64xbf16>, %y: memref<?x64xf32>, %n: index) {
  %c0 = arith.constant 0 : index
  %xv = tile.view %x axes(0, 1) : memref<?x64xbf16> -> !tile.view<?x64xbf16>
  %wv = tile.view %w axes(0, 1) : memref<64x64xbf16> -> !tile.view<64x64xbf16>
  %yv = tile.view %y axes(0, 1) : memref<?x64xf32> -> !tile.view<?x64xf32>
  tile.kernel grid(%i) = (%n) {
    %a = tile.load %xv[%i, %c0] : !tile.view<?x64xbf16> -> !tile.tile<8x64xbf16>
    %b = tile.load %wv[%c0, %c0] : !tile.view<64x64xbf16> -> !tile.tile<64x64xbf16>
    %t = tile.dot %a, %b transpose_b : !tile.tile<8x64xbf16>, !tile.tile<64x64xbf16> -> !tile.tile<8x64xf32>
    tile.store %t, %yv[%i, %c0] : !tile.tile<8x64xf32>, !tile.view<?x64xf32>
  }
  return
}
