// RUN: fovea-opt %s --fovea-stage-operands --verify-diagnostics | FileCheck %s
// RUN: fovea-opt %s --fovea-stage-operands=chunk-bytes=4096 --verify-diagnostics | FileCheck %s --check-prefix=SMALL

// Two loads: a loop over k, as many at a time as 16 KiB hold. The left operand lies in rows, the right one in columns, both
// padded by 16 bytes.
// CHECK-LABEL: func.func private @linear
// SMALL-LABEL: func.func private @linear
func.func private @linear(%x: memref<?x192xf32>, %w: memref<32x96x16x2xbf16>, %y: memref<?x512xf32>, %n: index) {
  %c0 = arith.constant 0 : index
  %c8 = arith.constant 8 : index
  %xv = tile.view %x axes(0, 1) : memref<?x192xf32> -> !tile.view<?x192xf32>
  %wv = tile.packed %w : memref<32x96x16x2xbf16> -> !tile.view<512x192xbf16>
  %yv = tile.view %y axes(0, 1) : memref<?x512xf32> -> !tile.view<?x512xf32>
  tile.kernel grid(%i, %j) = (%n, %c8) {
    // CHECK: %[[W:.*]] = tile.shared : !tile.shared<48x32xbf16, strides [1, 56]>
    // CHECK: %[[X:.*]] = tile.shared : !tile.shared<64x32xf32, strides [36, 1]>
    // CHECK-NOT: tile.load
    // CHECK: %[[ZERO:.*]] = tile.splat %{{.*}} : !tile.tile<64x48xf32>
    // CHECK: %[[END:.*]] = arith.constant 192 : index
    // CHECK: %[[STEP:.*]] = arith.constant 32 : index
    // CHECK: %[[SUM:.*]] = scf.for %{{.*}} = %{{.*}} to %[[END]] step %[[STEP]] iter_args(%[[SOFAR:.*]] = %[[ZERO]])
    // CHECK: tile.copy %{{.*}}[%{{.*}}, %{{.*}}] to %[[X]]
    // CHECK: tile.copy %{{.*}}[%{{.*}}, %{{.*}}] to %[[W]]
    // CHECK: tile.mma %[[X]], %[[W]] transpose_b into %[[SOFAR]]
    // CHECK: tile.store %[[SUM]]
    // SMALL: tile.shared : !tile.shared<64x8xf32, strides [12, 1]>
    %a = tile.load %xv[%i, %c0] : !tile.view<?x192xf32> -> !tile.tile<64x192xf32>
    %b = tile.load %wv[%j, %c0] : !tile.view<512x192xbf16> -> !tile.tile<48x192xbf16>
    %s = tile.dot %a, %b transpose_b : !tile.tile<64x192xf32>, !tile.tile<48x192xbf16> -> !tile.tile<64x48xf32>
    tile.store %s, %yv[%i, %j] : !tile.tile<64x48xf32>, !tile.view<?x512xf32>
  }
  return
}
