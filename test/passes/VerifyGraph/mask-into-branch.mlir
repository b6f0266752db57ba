// RUN: fovea-opt %s --fovea-verify-graph -verify-diagnostics

func.func @into_branch(%q: tensor<1x3x2x4xf32>, %if: i1) -> tensor<1x3x2x4xf32> {
  // expected-note @below {{the mask is made here}}
  %m = fovea.mask_causal
  %y = scf.if %if -> tensor<1x3x2x4xf32> {
    // expected-error @below {{expects the mask to be made in the region that uses it}}
    %o = fovea.attention %q, %q, %q mask(%m) : tensor<1x3x2x4xf32>, tensor<1x3x2x4xf32>, tensor<1x3x2x4xf32> -> tensor<1x3x2x4xf32>
    scf.yield %o : tensor<1x3x2x4xf32>
  } else {
    scf.yield %q : tensor<1x3x2x4xf32>
  }
  return %y : tensor<1x3x2x4xf32>
}
