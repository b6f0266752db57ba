// RUN: fovea-opt %s --fovea-insert-barriers --verify-diagnostics | FileCheck %s

// Copies that are only begun: their bytes are written when they were waited for. Other slots of their ring are used
// meanwhile, so the barrier that is there is enough.
// CHECK-LABEL: func.func private @ring
func.func private @ring(%x: !tile.view<?x32xf32>, %zero: !tile.tile<16x16xf32>, %n: index, %c0: index, %one: index, %some: i1) {
  tile.kernel grid(%i) = (%n) {
    %before = tile.shared at(0) : !tile.shared<16x32xf32>
    %ring = tile.shared stages(2) at(0) : !tile.shared<16x32xf32>
    %t = tile.local_load %before : !tile.shared<16x32xf32> -> !tile.tile<16x32xf32>
    // What was read there before was another piece: a barrier, whether or not there is a copy.
    // CHECK: tile.barrier
    // CHECK-NEXT: scf.if
    %first = tile.stage %ring[%c0] : !tile.shared<16x32xf32>
    scf.if %some {
      // CHECK-NEXT: tile.copy
      tile.copy %x[%i, %c0] to %first async : !tile.view<?x32xf32>, !tile.shared<16x32xf32>
    }
    // CHECK-NOT: tile.barrier
    // CHECK: scf.for
    tile.async_commit
    %s:2 = scf.for %k = %c0 to %n step %n iter_args(%sum = %zero, %slot = %c0) -> (!tile.tile<16x16xf32>, index) {
      // CHECK-NEXT: tile.async_wait
      tile.async_wait pending(0)
      // CHECK-NEXT: tile.barrier
      tile.barrier
      // CHECK-NOT: tile.barrier
      // CHECK: tile.async_wait
      %other = tile.stage %ring[%one] : !tile.shared<16x32xf32>
      tile.copy %x[%i, %k] to %other async : !tile.view<?x32xf32>, !tile.shared<16x32xf32>
      tile.async_commit
      %a = tile.stage %ring[%slot] : !tile.shared<16x32xf32>
      %next = tile.mma %a, %a transpose_b into %sum : !tile.shared<16x32xf32>, !tile.shared<16x32xf32> -> !tile.tile<16x16xf32>
      scf.yield %next, %slot : !tile.tile<16x16xf32>, index
    }
    tile.async_wait pending(0)
    // CHECK: tile.barrier
    // CHECK-NEXT: tile.local_store
    tile.local_store %t to %before : !tile.tile<16x32xf32>, !tile.shared<16x32xf32>
  }
  return
}
