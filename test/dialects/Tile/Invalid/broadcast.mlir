// RUN: fovea-opt %s --split-input-file --verify-diagnostics

// What tile.broadcast refuses, by the number of the constraint.

func.func private @broadcast_c1_size(%a: !tile.tile<2x1xf32>) {
  // expected-error @below {{expects a size of 1 or 4 along axis 0, got 2}}
  %r = tile.broadcast %a : !tile.tile<2x1xf32> -> !tile.tile<4x3xf32>
  return
}

// -----

func.func private @broadcast_c1_lanes(%a: !tile.tile<2x1xf32>) {
  // expected-error @below {{expects equal lanes, got 1 and 0}}
  %r = tile.broadcast %a : !tile.tile<2x1xf32> -> !tile.tile<2x3xf32, lanes 0>
  return
}

// -----

func.func private @broadcast_c1_elements(%a: !tile.tile<2x1xf32>) {
  // expected-error @below {{expects equal element types, got 'f32' and 'f64'}}
  %r = tile.broadcast %a : !tile.tile<2x1xf32> -> !tile.tile<2x3xf64>
  return
}
