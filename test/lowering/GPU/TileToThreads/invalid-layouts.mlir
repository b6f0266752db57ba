// RUN: fovea-opt %s --split-input-file --verify-diagnostics --fovea-tile-to-threads

gpu.module @gpu {
  func.func private @no_layout(%part: index, %parts: index) {
    %c1 = arith.constant 1 : index
    %zero = arith.constant 0.0 : f32
    tile.kernel grid(%i) = (%c1) {
      // expected-error @below {{expects tiles with layouts, got '!tile.tile<4x4xf32>'}}
      %t = tile.splat %zero : !tile.tile<4x4xf32>
    }
    return
  }
}

// -----

gpu.module @gpu {
  func.func private @too_many_threads(%part: index, %parts: index) attributes {fovea.threads = 32 : i32} {
    %c1 = arith.constant 1 : index
    %zero = arith.constant 0.0 : f32
    tile.kernel grid(%i) = (%c1) {
      // expected-error @below {{expects layouts of at most 32 threads, got 64}}
      %t = tile.splat %zero : !tile.tile<1x64xf32, #tile.layout<rows = [], columns = [threads 64 by 1]>>
    }
    return
  }
}

// -----

#row = #tile.layout<rows = [], columns = [threads 64 by 1]>
#other = #tile.layout<rows = [], columns = [registers 2, threads 32 by 1]>
gpu.module @gpu {
  func.func private @conversion(%part: index, %parts: index) {
    %c1 = arith.constant 1 : index
    %zero = arith.constant 0.0 : f32
    tile.kernel grid(%i) = (%c1) {
      %t = tile.splat %zero : !tile.tile<1x64xf32, #row>
      // expected-error @below {{expects a layout whose elements every thread has in registers of}}
      %u = tile.cast %t : !tile.tile<1x64xf32, #row> -> !tile.tile<1x64xf32, #other>
    }
    return
  }
}

// -----

gpu.module @gpu {
  func.func private @extract(%part: index, %parts: index) {
    %c1 = arith.constant 1 : index
    %zero = arith.constant 0.0 : f32
    tile.kernel grid(%i) = (%c1) {
      %t = tile.splat %zero : !tile.tile<1x1xf32, #tile.layout<rows = [], columns = [threads 2 by 1]>>
      // expected-error @below {{expects an element that every thread holds, got}}
      %e = tile.extract %t : !tile.tile<1x1xf32, #tile.layout<rows = [], columns = [threads 2 by 1]>>
    }
    return
  }
}
