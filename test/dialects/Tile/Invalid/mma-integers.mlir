// RUN: fovea-opt %s --split-input-file --verify-diagnostics

// What tile.mma refuses of packed integers, by the number of the constraint.

func.func private @mma_c3(%q: !tile.tile<48x192xi8>, %x: !tile.shared<64x192xf32>, %acc: !tile.tile<64x48xf32>) {
  %w = tile.dequantize %q : !tile.tile<48x192xi8> -> !tile.tile<48x192xf32>
  // expected-error @below {{expects shared memory or a load, got '!tile.tile<48x192xf32>'}}
  %0 = tile.mma %x, %w transpose_b into %acc : !tile.shared<64x192xf32>, !tile.tile<48x192xf32> -> !tile.tile<64x48xf32>
  return
}

// -----

func.func private @mma_c3_table(%v: !tile.view<48x192xi4>, %x: !tile.shared<64x192xf32>, %acc: !tile.tile<64x48xf32>) {
  %c0 = arith.constant 0 : index
  %q = tile.load %v[%c0, %c0] : !tile.view<48x192xi4> -> !tile.tile<48x192xi4>
  %w = tile.dequantize %q table [0, 1, 2, 3, 4, 6, 8, 12, 0, -1, -2, -3, -4, -6, -8, -12] : !tile.tile<48x192xi4> -> !tile.tile<48x192xf32>
  // expected-error @below {{expects shared memory or a load, got '!tile.tile<48x192xf32>'}}
  %0 = tile.mma %x, %w transpose_b into %acc : !tile.shared<64x192xf32>, !tile.tile<48x192xf32> -> !tile.tile<64x48xf32>
  return
}
