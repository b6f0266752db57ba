// RUN: fovea-opt %s --fovea-pipeline-copies | FileCheck %s
// RUN: fovea-opt %s --fovea-pipeline-copies=limit=80000 | FileCheck %s --check-prefix=SMALL

// A copy whose rows are not surely aligned stays, beside one that goes ahead. So does one that is read before it in its round.
// CHECK-LABEL: func.func private @some
// SMALL-LABEL: func.func private @some
func.func private @some(%x: memref<?x31xbf16>, %w: memref<64x192xbf16>, %zero: !tile.tile<64x64xf32>, %n: index) {
  %c0 = arith.constant 0 : index
  %c32 = arith.constant 32 : index
  %c192 = arith.constant 192 : index
  %xv = tile.view %x axes(0, 1) : memref<?x31xbf16> -> !tile.view<?x31xbf16>
  %wv = tile.view %w axes(0, 1) : memref<64x192xbf16> -> !tile.view<64x192xbf16>
  tile.kernel grid(%i) = (%n) {
    // CHECK-DAG: %[[X:.*]] = tile.shared : !tile.shared<64x32xbf16>
    // CHECK-DAG: %[[Z:.*]] = tile.shared : !tile.shared<64x32xbf16>
    // CHECK-DAG: %[[W:.*]] = tile.shared stages(3) : !tile.shared<64x32xbf16>
    %xs = tile.shared : !tile.shared<64x32xbf16>
    %ws = tile.shared : !tile.shared<64x32xbf16>
    %zs = tile.shared : !tile.shared<64x32xbf16>
    // CHECK: scf.for
    // CHECK: scf.for %[[K:[a-z0-9]*]] =
    %s = scf.for %k = %c0 to %c192 step %c32 iter_args(%sum = %zero) -> (!tile.tile<64x64xf32>) {
      // CHECK: tile.local_load
      %z = tile.local_load %zs : !tile.shared<64x32xbf16> -> !tile.tile<64x32xbf16>
      // CHECK: tile.copy %{{.*}}[%[[K]], %{{.*}}] to %{{.*}} : !tile.view<?x31xbf16>
      tile.copy %xv[%k, %c0] to %xs : !tile.view<?x31xbf16>, !tile.shared<64x32xbf16>
      tile.copy %wv[%i, %k] to %ws : !tile.view<64x192xbf16>, !tile.shared<64x32xbf16>
      // CHECK: tile.copy %{{.*}}[%{{.*}}, %[[K]]] to %{{.*}} : !tile.view<64x192xbf16>
      tile.copy %wv[%i, %k] to %zs : !tile.view<64x192xbf16>, !tile.shared<64x32xbf16>
      %next = tile.mma %xs, %ws transpose_b into %sum : !tile.shared<64x32xbf16>, !tile.shared<64x32xbf16> -> !tile.tile<64x64xf32>
      scf.yield %next : !tile.tile<64x64xf32>
    }
  }
  return
}
