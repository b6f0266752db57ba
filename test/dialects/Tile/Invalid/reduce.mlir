// RUN: fovea-opt %s --split-input-file --verify-diagnostics

// What tile.reduce refuses, by the number of the constraint.

func.func private @reduce_c1_axis(%a: !tile.tile<2x3xf32>) {
  // expected-error @below {{expects axis 0 or 1, got 2}}
  %r = tile.reduce sum %a axis(2) : !tile.tile<2x3xf32> -> !tile.tile<2x1xf32>
  return
}

// -----

func.func private @reduce_c1_result(%a: !tile.tile<2x3xf32>) {
  // expected-error @below {{expects a result of type '!tile.tile<1x3xf32>', got '!tile.tile<2x1xf32>'}}
  %r = tile.reduce sum %a axis(0) : !tile.tile<2x3xf32> -> !tile.tile<2x1xf32>
  return
}

// -----

func.func private @reduce_c2_elements(%a: !tile.tile<2x3xbf16>) {
  // expected-error @below {{expects elements of f32 or f64, got 'bf16'}}
  %r = tile.reduce maximum %a axis(1) : !tile.tile<2x3xbf16> -> !tile.tile<2x1xbf16>
  return
}
