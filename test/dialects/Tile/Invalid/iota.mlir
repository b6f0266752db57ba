// RUN: fovea-opt %s --split-input-file --verify-diagnostics

// What tile.iota refuses, by the number of the constraint.

func.func private @iota_c1_elements(%n: index) {
  // expected-error @below {{expects elements of i32, got 'i64'}}
  %r = tile.iota axis(0) from %n : !tile.tile<2x3xi64>
  return
}

// -----

func.func private @iota_c2_axis(%n: index) {
  // expected-error @below {{expects axis 0 or 1, got 2}}
  %r = tile.iota axis(2) from %n : !tile.tile<2x3xi32>
  return
}

// -----

func.func private @iota_c2_negative_axis(%n: index) {
  // expected-error @below {{expects axis 0 or 1, got -1}}
  %r = tile.iota axis(-1) from %n : !tile.tile<2x3xi32>
  return
}
