// RUN: fovea-opt %s --verify-diagnostics --fovea-tile-to-threads

gpu.module @gpu {
  func.func private @no_place(%part: index, %parts: index) {
    %c1 = arith.constant 1 : index
    tile.kernel grid(%i) = (%c1) {
      // expected-error @below {{expects a place, which fovea-plan-shared gives}}
      %m = tile.shared : !tile.shared<64x1xf32>
    }
    return
  }
}
