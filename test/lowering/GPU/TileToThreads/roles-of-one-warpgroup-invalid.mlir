// RUN: fovea-opt %s --fovea-tile-to-threads -verify-diagnostics
// RUN: fovea-opt %s --fovea-tile-to-threads --fovea-to-nvvm -verify-diagnostics

gpu.module @gpu {
func.func private @alone(%n: index, %part: index, %parts: index) attributes {fovea.threads = 128 : i32} {
  tile.kernel grid(%i) = (%n) {
    // expected-error @below {{expects whole warpgroups, one of them the producer, got 128 threads}}
    tile.warp_specialize producer(%first) registers(24) {
      tile.yield %first : index
    } consumer(%first) registers(240) {
      tile.yield %first : index
    }
  }
  return
}
}
