// RUN: fovea-opt %s --fovea-insert-barriers --verify-diagnostics | FileCheck %s

// Either branch may have run. A loop may have had no round.
// CHECK-LABEL: func.func private @paths
func.func private @paths(%x: !tile.view<?x32xf32>, %t: !tile.tile<16x32xf32>, %n: index, %which: i1) {
  tile.kernel grid(%i) = (%n) {
    %a = tile.shared at(0) : !tile.shared<16x32xf32>
    // CHECK: scf.if
    scf.if %which {
      // CHECK-NEXT: tile.local_store
      tile.local_store %t to %a : !tile.tile<16x32xf32>, !tile.shared<16x32xf32>
    }
    // CHECK: tile.barrier
    // CHECK-NEXT: tile.local_load
    %0 = tile.local_load %a : !tile.shared<16x32xf32> -> !tile.tile<16x32xf32>
    // CHECK: scf.for
    scf.for %j = %i to %n step %n {
      // CHECK-NEXT: tile.barrier
      tile.barrier
    }
    // CHECK: tile.barrier
    // CHECK-NEXT: tile.local_store
    tile.local_store %t to %a : !tile.tile<16x32xf32>, !tile.shared<16x32xf32>
  }
  return
}
