// RUN: fovea-opt %s -split-input-file -verify-diagnostics

// What tile.copy, tile.local_store and tile.local_load refuse, by the number of the constraint.

func.func private @copy_c1(%x: !tile.view<?x4xf32>, %s: !tile.shared<4x4xbf16>, %i: index) {
  // expected-error @below {{expects equal element types, got 'f32' and 'bf16'}}
  tile.copy %x[%i, %i] to %s : !tile.view<?x4xf32>, !tile.shared<4x4xbf16>
  return
}

// -----

func.func private @put_c1(%t: !tile.tile<4x8xf32>, %s: !tile.shared<8x4xf32>) {
  // expected-error @below {{expects equal shapes, got '!tile.tile<4x8xf32>' and '!tile.shared<8x4xf32>'}}
  tile.local_store %t to %s : !tile.tile<4x8xf32>, !tile.shared<8x4xf32>
  return
}

// -----

func.func private @get_c1(%s: !tile.shared<8x4xf32>) {
  // expected-error @below {{expects equal element types, got 'bf16' and 'f32'}}
  %t = tile.local_load %s : !tile.shared<8x4xf32> -> !tile.tile<8x4xbf16>
  return
}

// -----

func.func private @copy_c2(%x: !tile.view<?x64xbf16>, %i: index) {
  %s = tile.shared : !tile.shared<64x64xbf16, swizzle 128>
  // expected-error @below {{expects a copy by a tensor map to be async, into a slot of a guarded ring with a swizzle along its columns}}
  tile.copy %x[%i, %i] to %s async map(0) : !tile.view<?x64xbf16>, !tile.shared<64x64xbf16, swizzle 128>
  return
}
