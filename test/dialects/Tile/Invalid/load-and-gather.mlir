// RUN: fovea-opt %s --split-input-file --verify-diagnostics

// What tile.load and tile.gather refuse, by the number of the constraint.

func.func private @load_c1_elements(%v: !tile.view<?x8xf32>, %i: index) {
  // expected-error @below {{expects equal element types, got 'f32' and 'bf16'}}
  %t = tile.load %v[%i, %i] : !tile.view<?x8xf32> -> !tile.tile<2x8xbf16>
  return
}

// -----

func.func private @gather_c1_elements(%v: !tile.view<?x8xf32>, %r: !tile.tile<2x1xi64>, %i: index) {
  // expected-error @below {{expects equal element types, got 'f32' and 'f16'}}
  %t = tile.gather %v[%r, %i] : !tile.view<?x8xf32>, !tile.tile<2x1xi64> -> !tile.tile<2x8xf16>
  return
}

// -----

func.func private @gather_c2_a_row_of_numbers(%v: !tile.view<?x8xf32>, %r: !tile.tile<1x2xi64>, %i: index) {
  // expected-error @below {{expects a column of 2 integers, got '!tile.tile<1x2xi64>'}}
  %t = tile.gather %v[%r, %i] : !tile.view<?x8xf32>, !tile.tile<1x2xi64> -> !tile.tile<2x8xf32>
  return
}

// -----

func.func private @gather_c2_real_numbers(%v: !tile.view<?x8xf32>, %r: !tile.tile<2x1xf32>, %i: index) {
  // expected-error @below {{expects a column of 2 integers, got '!tile.tile<2x1xf32>'}}
  %t = tile.gather %v[%r, %i] : !tile.view<?x8xf32>, !tile.tile<2x1xf32> -> !tile.tile<2x8xf32>
  return
}

// -----

func.func private @load_c2(%v: !tile.view<64x128xi6>) -> !tile.tile<48x128xi6> {
  %c0 = arith.constant 0 : index
  // expected-error @below {{expects '!tile.tile<48x128xi6>' to be read by tile.dequantize alone}}
  %t = tile.load %v[%c0, %c0] : !tile.view<64x128xi6> -> !tile.tile<48x128xi6>
  return %t : !tile.tile<48x128xi6>
}
