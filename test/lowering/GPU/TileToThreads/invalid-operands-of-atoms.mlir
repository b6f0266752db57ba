// RUN: fovea-opt %s --split-input-file --verify-diagnostics --fovea-tile-to-threads

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
