// RUN: fovea-opt %s -verify-diagnostics

// What fovea.attention refuses of its mask, by the number of the constraint.

func.func @attention_c12(%q: tensor<?x3x8x64xf32>, %k: tensor<?x5x2x64xf32>, %d: tensor<5x3xi1>) {
  %c = fovea.mask_causal
  %m = fovea.mask_dense %d : tensor<5x3xi1>
  %n = fovea.mask_not %m
  %a = fovea.mask_and(%c, %n)
  // expected-error @below {{expects the mask's 'fovea.mask_dense' to take 'tensor<3x5xi1>', got 'tensor<5x3xi1>'}}
  %o = fovea.attention %q, %k, %k mask(%a) : tensor<?x3x8x64xf32>, tensor<?x5x2x64xf32>, tensor<?x5x2x64xf32> -> tensor<?x3x8x64xf32>
  return
}
