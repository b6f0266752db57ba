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
    tile.roles producer(%p) registers(24) {
      %s = tile.acquire %ring[%p] : !tile.shared<16x32xf32>
      tile.publish %ring[%p] : !tile.shared<16x32xf32>
      tile.yield %p : index
    } consumer(%c) registers(240) {
      %s = tile.await %ring[%c] : !tile.shared<16x32xf32>
      tile.release %ring[%c] : !tile.shared<16x32xf32>
      %t = tile.get %a : !tile.shared<16x32xf32> -> !tile.tile<16x32xf32>
      tile.yield %c : index
    }
  }
  return
}
