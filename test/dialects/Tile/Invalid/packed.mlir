// RUN: fovea-opt %s --split-input-file --verify-diagnostics

// What tile.packed refuses, by the number of the constraint.

func.func private @packed_c1_three_beside_each_other(%x: memref<2x3x16x3xf32>) {
  // expected-error @below {{expects a static buffer [panels, k, outputs] or [panels, k, outputs, 2, 4, 8 or 16], got 'memref<2x3x16x3xf32>'}}
  %v = tile.packed %x : memref<2x3x16x3xf32> -> !tile.view<32x3xf32>
  return
}

// -----

func.func private @packed_c1_empty_panels(%x: memref<2x3x0xf32>) {
  // expected-error @below {{expects a static buffer [panels, k, outputs] or [panels, k, outputs, 2, 4, 8 or 16], got 'memref<2x3x0xf32>'}}
  %v = tile.packed %x : memref<2x3x0xf32> -> !tile.view<32x3xf32>
  return
}

// -----

func.func private @packed_c2_too_many_rows(%x: memref<2x3x16xf32>) {
  // expected-error @below {{expects a view whose sizes fill 'memref<2x3x16xf32>', got '!tile.view<33x3xf32>'}}
  %v = tile.packed %x : memref<2x3x16xf32> -> !tile.view<33x3xf32>
  return
}

// -----

func.func private @packed_c2_too_few_columns(%x: memref<2x3x16x2xbf16>) {
  // expected-error @below {{expects a view whose sizes fill 'memref<2x3x16x2xbf16>', got '!tile.view<32x4xbf16>'}}
  %v = tile.packed %x : memref<2x3x16x2xbf16> -> !tile.view<32x4xbf16>
  return
}

// -----

func.func private @packed_c3_elements(%x: memref<2x3x16xf32>) {
  // expected-error @below {{expects a buffer of 'bf16' for '!tile.view<32x3xbf16>', got 'memref<2x3x16xf32>'}}
  %v = tile.packed %x : memref<2x3x16xf32> -> !tile.view<32x3xbf16>
  return
}
