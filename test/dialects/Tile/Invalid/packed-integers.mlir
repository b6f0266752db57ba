// RUN: fovea-opt %s --split-input-file --verify-diagnostics

// What tile.packed refuses of packed integers, by the number of the constraint.

func.func private @packed_c2(%w: memref<32x96x16xi8>) {
  // expected-error @below {{expects a view whose sizes fill 'memref<32x96x16xi8>', got '!tile.view<512x96xi4>'}}
  %0 = tile.packed %w : memref<32x96x16xi8> -> !tile.view<512x96xi4>
  return
}

// -----

func.func private @packed_c3(%w: memref<32x96x16xi16>) {
  // expected-error @below {{expects a buffer of 'i8' for '!tile.view<512x192xi4>', got 'memref<32x96x16xi16>'}}
  %0 = tile.packed %w : memref<32x96x16xi16> -> !tile.view<512x192xi4>
  return
}
