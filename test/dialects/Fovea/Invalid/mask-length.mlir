// RUN: fovea-opt %s -split-input-file -verify-diagnostics

// What fovea.mask_length refuses, by the number of the constraint.

func.func @mask_length_c1(%q: tensor<4x?x8x64xf32>, %k: tensor<4x?x2x64xf32>, %n: tensor<3xi32>) {
  %m = fovea.mask_length %n : tensor<3xi32>
  // expected-error @below {{expects the mask's 'fovea.mask_length' to take 'tensor<4xi32>', got 'tensor<3xi32>'}}
  %o = fovea.attention %q, %k, %k mask(%m) : tensor<4x?x8x64xf32>, tensor<4x?x2x64xf32>, tensor<4x?x2x64xf32> -> tensor<4x?x8x64xf32>
  return
}

// -----

func.func @mask_length_rank(%n: tensor<?x1xi32>) {
  // expected-error @below {{operand #0 must be 1D tensor of 32-bit signless integer values}}
  %m = "fovea.mask_length"(%n) : (tensor<?x1xi32>) -> !fovea.mask
  return
}
