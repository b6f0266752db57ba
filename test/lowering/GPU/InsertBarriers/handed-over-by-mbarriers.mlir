// RUN: fovea-opt %s --fovea-insert-barriers --verify-diagnostics | FileCheck %s

// What mbarriers hand over needs no barrier; what the consumers write for each other does, and so does writing anew for
// the next point of the grid.
// CHECK-LABEL: func.func private @handed
func.func private @handed(%k: !tile.view<?x32xf32>, %n: index, %t: !tile.tile<16x32xf32>) {
  tile.kernel grid(%i) = (%n) {
    %ring = tile.shared stages(2) guarded at(0) : !tile.shared<16x32xf32>
    %a = tile.shared at(4224) : !tile.shared<16x32xf32>
    // CHECK: consumer
    // CHECK-NEXT: tile.barrier
    // CHECK-NEXT: tile.local_store
    // CHECK-NEXT: tile.consumer_wait
    // CHECK-NEXT: tile.local_load
    // CHECK-NEXT: tile.consumer_release
    // CHECK-NEXT: tile.barrier
    // CHECK-NEXT: tile.local_load
    // CHECK-NOT: tile.barrier
    // CHECK: tile.yield
    tile.warp_specialize producer(%p) registers(24) {
      %s = tile.producer_acquire %ring[%p] : !tile.shared<16x32xf32>
      tile.copy %k[%i, %i] to %s async : !tile.view<?x32xf32>, !tile.shared<16x32xf32>
      tile.producer_commit %ring[%p] : !tile.shared<16x32xf32>
      tile.yield %p : index
    } consumer(%c) registers(240) {
      tile.local_store %t to %a : !tile.tile<16x32xf32>, !tile.shared<16x32xf32>
      %s = tile.consumer_wait %ring[%c] : !tile.shared<16x32xf32>
      %x = tile.local_load %s : !tile.shared<16x32xf32> -> !tile.tile<16x32xf32>
      tile.consumer_release %ring[%c] : !tile.shared<16x32xf32>
      %y = tile.local_load %a : !tile.shared<16x32xf32> -> !tile.tile<16x32xf32>
      tile.yield %c : index
    }
  }
  return
}
