// RUN: fovea-opt %s --fovea-choose-atoms=warpgroups | FileCheck %s --check-prefix=CHOOSE
// RUN: fovea-opt %s --fovea-choose-atoms=warpgroups --fovea-stage-operands --fovea-assign-layouts | FileCheck %s

// Attention by wgmma. The sums lie as mma.sync gives them, so the softmax does not change; queries, keys and values are
// swizzled, and weights are read from the registers that hold them.
// CHECK-DAG: #[[$ROWS:.*]] = #tile.layout<rows = [threads 8 by 4, registers 2, threads 4 by 32], columns = []>
// CHECK-DAG: #[[$SUMS:.*]] = #tile.layout<rows = [threads 8 by 4, registers 2, threads 4 by 32], columns = [registers 2, threads 4 by 1, registers 8]>
// CHOOSE-LABEL: func.func private @attention
// CHECK-LABEL: func.func private @attention
func.func private @attention(%q: memref<?x96xbf16>, %k: memref<?x96xbf16>, %v: memref<?x96xbf16>, %y: memref<?x96xf32>, %n: index) {
  %c0 = arith.constant 0 : index
  %c64 = arith.constant 64 : index
  %zero = arith.constant 0.0 : f32
  %qv = tile.view %q axes(0, 1) : memref<?x96xbf16> -> !tile.view<?x96xbf16>
  %kv = tile.view %k axes(0, 1) : memref<?x96xbf16> -> !tile.view<?x96xbf16>
  %vv = tile.view %v axes(0, 1) : memref<?x96xbf16> -> !tile.view<?x96xbf16>
  %yv = tile.view %y axes(0, 1) : memref<?x96xf32> -> !tile.view<?x96xf32>
  tile.kernel grid(%i) = (%n) {
    // Two panels of 64 columns each, copied once.
    // CHECK: tile.copy %{{.*}} to %[[Q:.*]] : !tile.view<?x96xbf16>, !tile.shared<64x96xbf16, swizzle 128>
    // CHECK-NOT: tile.load
    // CHECK: scf.for
    %a = tile.load %qv[%i, %c0] : !tile.view<?x96xbf16> -> !tile.tile<64x96xbf16>
    %lanes = tile.cast %a : !tile.tile<64x96xbf16> -> !tile.tile<64x96xbf16, lanes 0>
    %none = tile.splat %zero : !tile.tile<64x96xf32>
    %o = scf.for %j = %c0 to %n step %c64 iter_args(%sum = %none) -> (!tile.tile<64x96xf32>) {
      %kt = tile.load %kv[%j, %c0] : !tile.view<?x96xbf16> -> !tile.tile<64x96xbf16>
      %vt = tile.load %vv[%j, %c0] : !tile.view<?x96xbf16> -> !tile.tile<64x96xbf16>
      // CHOOSE: tile.dot %{{.*}}, %{{.*}} transpose_b atom(m64k16)
      // CHECK: tile.copy %{{.*}} to %[[K:.*]] : !tile.view<?x96xbf16>, !tile.shared<64x96xbf16, swizzle 128>
      // CHECK: tile.mma %[[Q]], %[[K]] transpose_b into %{{.*}} atom(m64k16) : {{.*}} -> !tile.tile<64x64xf32, #[[$SUMS]]>
      %s = tile.dot %lanes, %kt transpose_b : !tile.tile<64x96xbf16, lanes 0>, !tile.tile<64x96xbf16> -> !tile.tile<64x64xf32>
      // CHECK: tile.reduce maximum %{{.*}} axis(1) : !tile.tile<64x64xf32, #[[$SUMS]]> -> !tile.tile<64x1xf32, #[[$ROWS]]>
      %m = tile.reduce maximum %s axis(1) : !tile.tile<64x64xf32> -> !tile.tile<64x1xf32>
      %wide = tile.broadcast %m : !tile.tile<64x1xf32> -> !tile.tile<64x64xf32>
      %p = tile.map(%x = %s, %z = %wide) : (!tile.tile<64x64xf32>, !tile.tile<64x64xf32>) -> !tile.tile<64x64xf32> {
        %0 = arith.subf %x, %z : f32
        tile.yield %0 : f32
      }
      // CHECK: %[[CLEAR:.*]] = scf.if
      // CHECK: %[[P:.*]] = tile.cast %[[CLEAR]] : {{.*}} -> !tile.tile<64x64xbf16, #[[$SUMS]]>
      // CHECK: tile.copy %{{.*}} to %[[V:.*]] : !tile.view<?x96xbf16>, !tile.shared<64x96xbf16, swizzle 128>
      // CHECK: tile.mma %[[P]], %[[V]] into %{{.*}} atom(m64k16)
      %pn = tile.cast %p : !tile.tile<64x64xf32> -> !tile.tile<64x64xbf16>
      // CHOOSE: tile.dot %{{.*}}, %{{.*}} into %{{.*}} atom(m64k16)
      %next = tile.dot %pn, %vt into %sum : !tile.tile<64x64xbf16>, !tile.tile<64x96xbf16> -> !tile.tile<64x96xf32>
      scf.yield %next : !tile.tile<64x96xf32>
    }
    tile.store %o, %yv[%i, %c0] : !tile.tile<64x96xf32>, !tile.view<?x96xf32>
  }
  return
}
