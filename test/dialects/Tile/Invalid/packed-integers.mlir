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

// -----

// A unit of 5 bits is 32 integers in five words.
func.func private @packed_c2_words(%w: memref<4x16x16x4xi8>) {
  // expected-error @below {{expects a view whose sizes fill 'memref<4x16x16x4xi8>', got '!tile.view<64x128xi5>'}}
  %0 = tile.packed %w : memref<4x16x16x4xi8> -> !tile.view<64x128xi5>
  return
}

// -----

func.func private @packed_c4(%w: memref<4x24x16xi8>) {
  // expected-error @below {{expects a buffer [panels, words, outputs, 4] for '!tile.view<64x128xi6>', got 'memref<4x24x16xi8>'}}
  %0 = tile.packed %w : memref<4x24x16xi8> -> !tile.view<64x128xi6>
  return
}
