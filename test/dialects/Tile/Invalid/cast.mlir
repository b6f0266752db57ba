// RUN: fovea-opt %s --split-input-file --verify-diagnostics

// What tile.cast refuses, by the number of the constraint.

func.func private @cast_c1_shapes(%a: !tile.tile<2x3xf32>) {
  // expected-error @below {{expects equal shapes, got '!tile.tile<2x3xf32>' and '!tile.tile<3x2xf32>'}}
  %r = tile.cast %a : !tile.tile<2x3xf32> -> !tile.tile<3x2xf32>
  return
}

// -----

func.func private @cast_c2_integers(%a: !tile.tile<2x3xi32>) {
  // expected-error @below {{expects floating-point element types, got 'i32' and 'f32'}}
  %r = tile.cast %a : !tile.tile<2x3xi32> -> !tile.tile<2x3xf32>
  return
}
