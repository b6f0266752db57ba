// RUN: fovea-opt %s --fovea-choose-atoms | FileCheck %s --check-prefix=CHOOSE
// RUN: fovea-opt %s --fovea-choose-atoms=tensor-cores=false | FileCheck %s --check-prefix=NONE
// RUN: fovea-opt %s --fovea-choose-atoms --fovea-stage-operands --fovea-assign-layouts | FileCheck %s

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
