// RUN: fovea-opt %s --fovea-tile-to-threads -verify-diagnostics | FileCheck %s
// RUN: fovea-opt %s --fovea-tile-to-threads --fovea-to-nvvm -verify-diagnostics -o /dev/null

// Without a map each of the producer's threads copies and arrives.
// CHECK-LABEL: func.func private @threads
gpu.module @gpu {
func.func private @threads(%k: memref<?x32xf32>, %n: index, %part: index, %parts: index) attributes {fovea.threads = 384 : i32} {
  %c0 = arith.constant 0 : index
  %kv = tile.view %k axes(0, 1) : memref<?x32xf32> -> !tile.view<?x32xf32>
  tile.kernel grid(%i) = (%n) {
    // CHECK: %[[ALL:.*]] = arith.constant 128 : i32
    // CHECK: "mbarrier.init.shared::cta.b64 [$0], $1;", "r,r,~{memory}" %{{.*}}, %[[ALL]]
    // CHECK-NOT: fence.mbarrier_init
    // CHECK: setmaxnreg.dec
    // CHECK: nvvm.cp.async.shared.global
    // CHECK: "cp.async.mbarrier.arrive.noinc.shared::cta.b64 [$0];"
    %ring = tile.shared stages(2) guarded at(0) : !tile.shared<16x32xf32>
    tile.warp_specialize producer(%first) registers(24) {
      %s = tile.producer_acquire %ring[%first] : !tile.shared<16x32xf32>
      tile.copy %kv[%c0, %c0] to %s async : !tile.view<?x32xf32>, !tile.shared<16x32xf32>
      tile.producer_commit %ring[%first] : !tile.shared<16x32xf32>
      tile.yield %first : index
    } consumer(%first) registers(240) {
      %s = tile.consumer_wait %ring[%first] : !tile.shared<16x32xf32>
      tile.consumer_release %ring[%first] : !tile.shared<16x32xf32>
      tile.yield %first : index
    }
  }
  return
}
}
