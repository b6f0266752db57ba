// RUN: fovea-opt %s --verify-diagnostics

// What tile.gather refuses of packed integers, by the number of the constraint.

func.func private @gather_c1(%w: !tile.view<512x192xi4>, %r: !tile.tile<4x1xi64>, %i: index) {
  // expected-error @below {{expects elements of whole bytes, got '!tile.view<512x192xi4>'}}
  %0 = tile.gather %w[%r, %i] : !tile.view<512x192xi4>, !tile.tile<4x1xi64> -> !tile.tile<4x192xi4>
  return
}
