// RUN: fovea-opt %s --fovea-choose-atoms -verify-diagnostics

// No schedule of a GPU makes rows bytes.

func.func @bytes(%a: !tile.tile<16x64xi8>, %b: !tile.tile<16x64xbf16>) {
  // expected-error @below {{has rows of i8, expects floats: no GPU's schedule has operands = i8}}
  %s = tile.dot %a, %b transpose_b : !tile.tile<16x64xi8>, !tile.tile<16x64xbf16> -> !tile.tile<16x16xf32>
  return
}
