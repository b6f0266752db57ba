// RUN: fovea-opt %s -verify-diagnostics

func.func private @dot_c5(%a: !tile.tile<16x16xf32>, %b: !tile.tile<16x8xf32>) {
  // expected-error @below {{expects what m16n8k8 takes, at most f32 and sums of f32, got 'f32', 'f32' and 'f64'}}
  %t = tile.dot %a, %b atom(m16n8k8) : !tile.tile<16x16xf32>, !tile.tile<16x8xf32> -> !tile.tile<16x8xf64>
  return
}
