// RUN: fovea-opt %s | fovea-opt | FileCheck %s

// Roles, and a ring whose slots change hands.
// CHECK-LABEL: func.func private @roles
func.func private @roles(%k: !tile.view<?x64xbf16>, %n: index) {
  tile.kernel grid(%i) = (%n) {
    // CHECK: %[[RING:.*]] = tile.shared stages(3) guarded at(2048) : !tile.shared<64x64xbf16, swizzle 128>
    %ring = tile.shared stages(3) guarded at(2048) : !tile.shared<64x64xbf16, swizzle 128>
    // CHECK: tile.warp_specialize producer(%[[P:.*]]) registers(24) {
    tile.warp_specialize producer(%p) registers(24) {
      // CHECK: %[[S:.*]] = tile.producer_acquire %[[RING]][%[[P]]] : !tile.shared<64x64xbf16, swizzle 128>
      %s = tile.producer_acquire %ring[%p] : !tile.shared<64x64xbf16, swizzle 128>
      // CHECK: tile.copy %{{.*}} to %[[S]] async map(0) : !tile.view<?x64xbf16>, !tile.shared<64x64xbf16, swizzle 128>
      tile.copy %k[%i, %i] to %s async map(0) : !tile.view<?x64xbf16>, !tile.shared<64x64xbf16, swizzle 128>
      // CHECK: tile.producer_commit %[[RING]][%[[P]]] : !tile.shared<64x64xbf16, swizzle 128>
      tile.producer_commit %ring[%p] : !tile.shared<64x64xbf16, swizzle 128>
      // CHECK: tile.yield %[[P]] : index
      tile.yield %p : index
      // CHECK: } consumer(%[[C:.*]]) registers(240) {
    } consumer(%c) registers(240) {
      // CHECK: tile.consumer_wait %[[RING]][%[[C]]] : !tile.shared<64x64xbf16, swizzle 128>
      %s = tile.consumer_wait %ring[%c] : !tile.shared<64x64xbf16, swizzle 128>
      // CHECK: tile.consumer_release %[[RING]][%[[C]]] : !tile.shared<64x64xbf16, swizzle 128>
      tile.consumer_release %ring[%c] : !tile.shared<64x64xbf16, swizzle 128>
      tile.yield %c : index
    }
  }
  return
}
