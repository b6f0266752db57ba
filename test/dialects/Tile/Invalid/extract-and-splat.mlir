// RUN: fovea-opt %s --split-input-file --verify-diagnostics

// What tile.extract and tile.splat refuse, by the number of the constraint.

func.func private @extract_c1_size(%t: !tile.tile<1x2xf32>) {
  // expected-error @below {{expects a tile of one element, got '!tile.tile<1x2xf32>'}}
  %x = tile.extract %t : !tile.tile<1x2xf32>
  return
}

// -----

func.func private @extract_c1_element(%t: !tile.tile<1x1xf32>) {
  // expected-error @below {{expects equal element types, got 'f32' and 'f64'}}
  %x = "tile.extract"(%t) : (!tile.tile<1x1xf32>) -> f64
  return
}

// -----

func.func private @splat_c1_elements(%v: f64) {
  // expected-error @below {{expects equal element types, got 'f64' and 'f32'}}
  %r = "tile.splat"(%v) : (f64) -> !tile.tile<2x3xf32>
  return
}

// -----

func.func private @splat_text_of_no_tile(%v: f64) {
  // expected-error @below {{expects a tile, got 'f64'}}
  %r = tile.splat %v : f64
  return
}
