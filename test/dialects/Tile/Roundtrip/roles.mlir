// RUN: fovea-opt %s | fovea-opt | FileCheck %s

// Roles, and a ring whose slots change hands.
// CHECK-LABEL: func.func private @roles
func.func private @roles(%k: !tile.view<?x64xbf16>, %n: index) {
  tile.kernel grid(%i) = (%n) {
    // CHECK: %[[RING:.*]] = tile.shared stages(3) guarded at(2048) : !tile.shared<64x64xbf16, swizzle 128>
    %ring = tile.shared stages(3) guarded at(2048) : !tile.shared<64x64xbf16, swizzle 128>
    // CHECK: tile.roles producer(%[[P:.*]]) registers(24) {
    tile.roles producer(%p) registers(24) {
      // CHECK: %[[S:.*]] = tile.acquire %[[RING]][%[[P]]] : !tile.shared<64x64xbf16, swizzle 128>
      %s = tile.acquire %ring[%p] : !tile.shared<64x64xbf16, swizzle 128>
      // CHECK: tile.copy %{{.*}} to %[[S]] async map(0) : !tile.view<?x64xbf16>, !tile.shared<64x64xbf16, swizzle 128>
      tile.copy %k[%i, %i] to %s async map(0) : !tile.view<?x64xbf16>, !tile.shared<64x64xbf16, swizzle 128>
      // CHECK: tile.publish %[[RING]][%[[P]]] : !tile.shared<64x64xbf16, swizzle 128>
      tile.publish %ring[%p] : !tile.shared<64x64xbf16, swizzle 128>
      // CHECK: tile.yield %[[P]] : index
      tile.yield %p : index
      // CHECK: } consumer(%[[C:.*]]) registers(240) {
    } consumer(%c) registers(240) {
      // CHECK: tile.await %[[RING]][%[[C]]] : !tile.shared<64x64xbf16, swizzle 128>
      %s = tile.await %ring[%c] : !tile.shared<64x64xbf16, swizzle 128>
      // CHECK: tile.release %[[RING]][%[[C]]] : !tile.shared<64x64xbf16, swizzle 128>
      tile.release %ring[%c] : !tile.shared<64x64xbf16, swizzle 128>
      tile.yield %c : index
    }
  }
  return
}
