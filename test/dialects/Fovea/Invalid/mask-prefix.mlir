// RUN: fovea-opt %s -verify-diagnostics

// What fovea.mask_prefix refuses, by the number of the constraint.

func.func @mask_prefix_c1(%q: tensor<4x?x8x64xf32>, %k: tensor<4x?x2x64xf32>, %n: tensor<3xi32>) {
  %p = fovea.mask_prefix %n : tensor<3xi32>
  %c = fovea.mask_causal
  %m = fovea.mask_or(%c, %p)
  // expected-error @below {{expects the mask's 'fovea.mask_prefix' to take 'tensor<4xi32>', got 'tensor<3xi32>'}}
  %o = fovea.attention %q, %k, %k mask(%m) : tensor<4x?x8x64xf32>, tensor<4x?x2x64xf32>, tensor<4x?x2x64xf32> -> tensor<4x?x8x64xf32>
  return
}
