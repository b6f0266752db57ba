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

gpu.module @gpu {
  // expected-error @below {{expects whole warps of up to 1024 threads, got 48}}
  func.func private @no_whole_warps(%part: index, %parts: index) attributes {fovea.threads = 48 : i32} {
    return
  }
}

// -----

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

// -----

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

#row = #tile.layout<rows = [threads 16 by 2], columns = [threads 2 by 1, registers 4]>
gpu.module @gpu {
  func.func private @atom_sums(%part: index, %parts: index) {
    %c1 = arith.constant 1 : index
    %zero = arith.constant 0.0 : f32
    tile.kernel grid(%i) = (%c1) {
      %a = tile.shared at(0) : !tile.shared<16x16xbf16>
      %b = tile.shared at(512) : !tile.shared<16x8xbf16>
      %acc = tile.splat %zero : !tile.tile<16x8xf32, #row>
      // expected-error @below {{expects its sums in the atom's layout, rows = [threads 8 by 4, registers 2, ...], columns = [registers 2, threads 4 by 1, ...], got}}
      %s = tile.mma %a, %b into %acc atom(m16n8k16) : !tile.shared<16x16xbf16>, !tile.shared<16x8xbf16> -> !tile.tile<16x8xf32, #row>
    }
    return
  }
}

// -----

#sums = #tile.layout<rows = [threads 8 by 4, registers 2], columns = [registers 2, threads 4 by 1]>
#left = #tile.layout<rows = [threads 8 by 4, registers 2], columns = [registers 4, threads 4 by 1]>
gpu.module @gpu {
  func.func private @atom_left(%part: index, %parts: index) {
    %c1 = arith.constant 1 : index
    %zero = arith.constant 0.0 : f32
    %none = arith.constant 0.0 : bf16
    tile.kernel grid(%i) = (%c1) {
      %a = tile.splat %none : !tile.tile<16x16xbf16, #left>
      %b = tile.shared at(0) : !tile.shared<16x8xbf16>
      %acc = tile.splat %zero : !tile.tile<16x8xf32, #sums>
      // expected-error @below {{expects a left operand in the atom's layout, its depth in registers, got}}
      %s = tile.mma %a, %b into %acc atom(m16n8k16) : !tile.tile<16x16xbf16, #left>, !tile.shared<16x8xbf16> -> !tile.tile<16x8xf32, #sums>
    }
    return
  }
}

// -----

#sums = #tile.layout<rows = [threads 8 by 4, registers 2, threads 2 by 32, registers 2], columns = [registers 2, threads 4 by 1, registers 2]>
gpu.module @gpu {
  func.func private @warpgroup_sums(%part: index, %parts: index) {
    %c1 = arith.constant 1 : index
    %zero = arith.constant 0.0 : f32
    tile.kernel grid(%i) = (%c1) {
      %a = tile.shared at(0) : !tile.shared<64x16xbf16, swizzle 32>
      %b = tile.shared at(4096) : !tile.shared<16x16xbf16, swizzle 32>
      %acc = tile.splat %zero : !tile.tile<64x16xf32, #sums>
      // expected-error @below {{expects its sums in the layout of warpgroups, rows = [threads 8 by 4, registers 2, threads 4 by 32, ...], columns = [registers 2, threads 4 by 1, ...], got}}
      %s = tile.mma %a, %b into %acc atom(m64k16) : !tile.shared<64x16xbf16, swizzle 32>, !tile.shared<16x16xbf16, swizzle 32> -> !tile.tile<64x16xf32, #sums>
    }
    return
  }
}

// -----

#sums = #tile.layout<rows = [threads 8 by 4, registers 2, threads 4 by 32], columns = [registers 2, threads 4 by 1, registers 2]>
#left = #tile.layout<rows = [threads 8 by 4, registers 2, threads 4 by 32], columns = [registers 4, threads 4 by 1]>
gpu.module @gpu {
  func.func private @warpgroup_left(%part: index, %parts: index) {
    %c1 = arith.constant 1 : index
    %zero = arith.constant 0.0 : f32
    %none = arith.constant 0.0 : bf16
    tile.kernel grid(%i) = (%c1) {
      %a = tile.splat %none : !tile.tile<64x16xbf16, #left>
      %b = tile.shared at(0) : !tile.shared<16x16xbf16, swizzle 32>
      %acc = tile.splat %zero : !tile.tile<64x16xf32, #sums>
      // expected-error @below {{expects a left operand in the layout of its sums, its depth in registers, got}}
      %s = tile.mma %a, %b into %acc atom(m64k16) : !tile.tile<64x16xbf16, #left>, !tile.shared<16x16xbf16, swizzle 32> -> !tile.tile<64x16xf32, #sums>
    }
    return
  }
}

// -----

#sums = #tile.layout<rows = [threads 8 by 4, registers 2], columns = [registers 2, threads 4 by 1]>
gpu.module @gpu {
  func.func private @atom_right(%x: memref<16x8xbf16>, %part: index, %parts: index) {
    %c0 = arith.constant 0 : index
    %c1 = arith.constant 1 : index
    %zero = arith.constant 0.0 : f32
    %xv = tile.view %x axes(0, 1) : memref<16x8xbf16> -> !tile.view<16x8xbf16>
    tile.kernel grid(%i) = (%c1) {
      %a = tile.shared at(0) : !tile.shared<16x16xbf16>
      %b = tile.load %xv[%c0, %c0] : !tile.view<16x8xbf16> -> !tile.tile<16x8xbf16, #sums>
      %acc = tile.splat %zero : !tile.tile<16x8xf32, #sums>
      // expected-error @below {{expects an atom's right operand in shared memory, got}}
      %s = tile.mma %a, %b into %acc atom(m16n8k16) : !tile.shared<16x16xbf16>, !tile.tile<16x8xbf16, #sums> -> !tile.tile<16x8xf32, #sums>
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

// -----

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
