// RUN: fovea-opt %s --verify-diagnostics --fovea-tile-to-threads

gpu.module @gpu {
  func.func private @two_grids(%x: memref<4xf32>, %part: index, %parts: index) {
    %c0 = arith.constant 0 : index
    %c1 = arith.constant 1 : index
    %c4 = arith.constant 4 : index
    scf.parallel (%i) = (%c0) to (%c4) step (%c1) {
    }
    // expected-error @below {{expects to be the function's only grid}}
    scf.parallel (%i) = (%c0) to (%c4) step (%c1) {
    }
    return
  }
}
