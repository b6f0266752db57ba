// RUN: fovea-opt %s --fovea-choose-atoms=warpgroups --split-input-file | FileCheck %s --check-prefix=CHOOSE
// RUN: fovea-opt %s --fovea-choose-atoms=warpgroups --fovea-stage-operands --fovea-assign-layouts --split-input-file | FileCheck %s

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

// -----

// What wgmma does not take is mma.sync's: 48 rows; f32; a depth of 24.
// CHOOSE-LABEL: func.func private @others
// CHOOSE: tile.dot %{{.*}} atom(m16n8k16)
// CHOOSE: tile.dot %{{.*}} atom(m16n8k8)
// CHOOSE: tile.dot %{{.*}} atom(m16n8k16)
// CHECK-LABEL: func.func private @others
// CHECK-NOT: swizzle
func.func private @others(%x: memref<64x64xbf16>, %y: memref<64x64xf32>) {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %xv = tile.view %x axes(0, 1) : memref<64x64xbf16> -> !tile.view<64x64xbf16>
  %yv = tile.view %y axes(0, 1) : memref<64x64xf32> -> !tile.view<64x64xf32>
  tile.kernel grid(%i) = (%c1) {
    %few = tile.load %xv[%c0, %c0] : !tile.view<64x64xbf16> -> !tile.tile<48x64xbf16>
    %w = tile.load %xv[%c0, %c0] : !tile.view<64x64xbf16> -> !tile.tile<64x64xbf16>
    %a = tile.dot %few, %w transpose_b : !tile.tile<48x64xbf16>, !tile.tile<64x64xbf16> -> !tile.tile<48x64xf32>
    tile.store %a, %yv[%c0, %c0] : !tile.tile<48x64xf32>, !tile.view<64x64xf32>
    %f = tile.load %yv[%c0, %c0] : !tile.view<64x64xf32> -> !tile.tile<64x64xf32>
    %b = tile.dot %f, %w transpose_b : !tile.tile<64x64xf32>, !tile.tile<64x64xbf16> -> !tile.tile<64x64xf32>
    tile.store %b, %yv[%c0, %c0] : !tile.tile<64x64xf32>, !tile.view<64x64xf32>
    %odd = tile.load %xv[%c0, %c0] : !tile.view<64x64xbf16> -> !tile.tile<64x24xbf16>
    %c = tile.dot %odd, %odd transpose_b : !tile.tile<64x24xbf16>, !tile.tile<64x24xbf16> -> !tile.tile<64x64xf32>
    tile.store %c, %yv[%c0, %c0] : !tile.tile<64x64xf32>, !tile.view<64x64xf32>
  }
  return
}

// -----

// A product of two loads, a chunk of k at a time; the left one's memory runs along its rows, so its panels do.
// CHECK-LABEL: func.func private @deep
// CHECK-DAG: tile.shared : !tile.shared<64x64xbf16, strides [1, 64], swizzle 128>
// CHECK-DAG: tile.shared : !tile.shared<64x64xbf16, swizzle 128>
// CHECK: scf.for
// CHECK: tile.mma %{{.*}}, %{{.*}} transpose_b into %{{.*}} atom(m64k16)
func.func private @deep(%x: memref<512x64xbf16>, %w: memref<64x512xbf16>, %y: memref<64x64xf32>) {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %xv = tile.view %x axes(1, 0) : memref<512x64xbf16> -> !tile.view<64x512xbf16>
  %wv = tile.view %w axes(0, 1) : memref<64x512xbf16> -> !tile.view<64x512xbf16>
  %yv = tile.view %y axes(0, 1) : memref<64x64xf32> -> !tile.view<64x64xf32>
  tile.kernel grid(%i) = (%c1) {
    %a = tile.load %xv[%c0, %c0] : !tile.view<64x512xbf16> -> !tile.tile<64x512xbf16>
    %b = tile.load %wv[%c0, %c0] : !tile.view<64x512xbf16> -> !tile.tile<64x512xbf16>
    %s = tile.dot %a, %b transpose_b : !tile.tile<64x512xbf16>, !tile.tile<64x512xbf16> -> !tile.tile<64x64xf32>
    tile.store %s, %yv[%c0, %c0] : !tile.tile<64x64xf32>, !tile.view<64x64xf32>
  }
  return
}

// -----

// A warpgroup for each 64 of 192 rows, which share the right operand.
// CHOOSE-LABEL: func.func private @three
// CHOOSE-SAME: fovea.threads = 384 : i32
// CHECK: #[[$THREE:.*]] = #tile.layout<rows = [threads 8 by 4, registers 2, threads 12 by 32], columns = [registers 2, threads 4 by 1, registers 8]>
// CHECK-LABEL: func.func private @three
// CHECK-DAG: tile.shared : !tile.shared<192x32xbf16, swizzle 64>
// CHECK-DAG: tile.shared : !tile.shared<64x32xbf16, swizzle 64>
// CHECK: tile.mma %{{.*}}, %{{.*}} transpose_b into %{{.*}} atom(m64k16) : {{.*}} -> !tile.tile<192x64xf32, #[[$THREE]]>
func.func private @three(%x: memref<192x32xbf16>, %w: memref<64x32xbf16>, %y: memref<192x64xf32>) {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %xv = tile.view %x axes(0, 1) : memref<192x32xbf16> -> !tile.view<192x32xbf16>
  %wv = tile.view %w axes(0, 1) : memref<64x32xbf16> -> !tile.view<64x32xbf16>
  %yv = tile.view %y axes(0, 1) : memref<192x64xf32> -> !tile.view<192x64xf32>
  tile.kernel grid(%i) = (%c1) {
    %a = tile.load %xv[%c0, %c0] : !tile.view<192x32xbf16> -> !tile.tile<192x32xbf16>
    %b = tile.load %wv[%c0, %c0] : !tile.view<64x32xbf16> -> !tile.tile<64x32xbf16>
    %s = tile.dot %a, %b transpose_b : !tile.tile<192x32xbf16>, !tile.tile<64x32xbf16> -> !tile.tile<192x64xf32>
    tile.store %s, %yv[%c0, %c0] : !tile.tile<192x64xf32>, !tile.view<192x64xf32>
  }
  return
}

// -----

// Of 256 rows each of two has two blocks.
// CHOOSE-LABEL: func.func private @two
// CHOOSE-SAME: fovea.threads = 256 : i32
// CHECK: #[[$TWO:.*]] = #tile.layout<rows = [threads 8 by 4, registers 2, threads 8 by 32, registers 2], columns = [registers 2, threads 4 by 1, registers 8]>
// CHECK-LABEL: func.func private @two
// CHECK: tile.mma %{{.*}} -> !tile.tile<256x64xf32, #[[$TWO]]>
func.func private @two(%x: memref<256x32xbf16>, %y: memref<256x64xf32>) {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %xv = tile.view %x axes(0, 1) : memref<256x32xbf16> -> !tile.view<256x32xbf16>
  %yv = tile.view %y axes(0, 1) : memref<256x64xf32> -> !tile.view<256x64xf32>
  tile.kernel grid(%i) = (%c1) {
    %a = tile.load %xv[%c0, %c0] : !tile.view<256x32xbf16> -> !tile.tile<256x32xbf16>
    %b = tile.load %xv[%c0, %c0] : !tile.view<256x32xbf16> -> !tile.tile<64x32xbf16>
    %s = tile.dot %a, %b transpose_b : !tile.tile<256x32xbf16>, !tile.tile<64x32xbf16> -> !tile.tile<256x64xf32>
    tile.store %s, %yv[%c0, %c0] : !tile.tile<256x64xf32>, !tile.view<256x64xf32>
  }
  return
}
