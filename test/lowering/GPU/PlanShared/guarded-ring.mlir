// RUN: fovea-opt %s --fovea-plan-shared | FileCheck %s

// A guarded ring's mbarriers lie behind its slots, and its producer may be anywhere: it shares its bytes with nothing.
// CHECK-LABEL: func.func private @guarded
// CHECK-SAME: fovea.shared_bytes = 6272 : i64
func.func private @guarded(%n: index) {
  tile.kernel grid(%i) = (%n) {
    // CHECK: tile.shared stages(2) guarded at(0) : !tile.shared<16x32xf32>
    %ring = tile.shared stages(2) guarded : !tile.shared<16x32xf32>
    // CHECK: tile.shared at(4224) : !tile.shared<16x32xf32>
    %a = tile.shared : !tile.shared<16x32xf32>
    tile.warp_specialize producer(%p) registers(24) {
      %s = tile.producer_acquire %ring[%p] : !tile.shared<16x32xf32>
      tile.producer_commit %ring[%p] : !tile.shared<16x32xf32>
      tile.yield %p : index
    } consumer(%c) registers(240) {
      %s = tile.consumer_wait %ring[%c] : !tile.shared<16x32xf32>
      tile.consumer_release %ring[%c] : !tile.shared<16x32xf32>
      %t = tile.local_load %a : !tile.shared<16x32xf32> -> !tile.tile<16x32xf32>
      tile.yield %c : index
    }
  }
  return
}
