// RUN: fovea-opt %s --split-input-file --verify-diagnostics --fovea-tile-to-threads

#row = #tile.layout<rows = [], columns = [threads 64 by 1]>
#one = #tile.layout<rows = [], columns = []>
gpu.module @gpu {
  func.func private @no_scratch(%part: index, %parts: index) {
    %c1 = arith.constant 1 : index
    %zero = arith.constant 0.0 : f32
    tile.kernel grid(%i) = (%c1) {
      %t = tile.splat %zero : !tile.tile<1x64xf32, #row>
      // expected-error @below {{expects a scratch, since 2 groups of threads hold elements along the axis}}
      %s = tile.reduce sum %t axis(1) : !tile.tile<1x64xf32, #row> -> !tile.tile<1x1xf32, #one>
    }
    return
  }
}

// -----

#row = #tile.layout<rows = [], columns = [threads 64 by 1]>
#one = #tile.layout<rows = [], columns = []>
gpu.module @gpu {
  func.func private @small_scratch(%part: index, %parts: index) {
    %c1 = arith.constant 1 : index
    %zero = arith.constant 0.0 : f32
    tile.kernel grid(%i) = (%c1) {
      %m = tile.shared at(0) : !tile.shared<64x1xf32>
      %t = tile.splat %zero : !tile.tile<1x64xf32, #row>
      // expected-error @below {{expects a scratch of 128x1x'f32', got '!tile.shared<64x1xf32>'}}
      %s = tile.reduce sum %t axis(1) scratch(%m : !tile.shared<64x1xf32>) : !tile.tile<1x64xf32, #row> -> !tile.tile<1x1xf32, #one>
    }
    return
  }
}
