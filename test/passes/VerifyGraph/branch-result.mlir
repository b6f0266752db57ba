// RUN: fovea-opt %s --fovea-localize-masks --fovea-verify-graph -verify-diagnostics

// A branch that gives a mask.

func.func @branch_result(%q: tensor<1x3x2x4xf32>, %if: i1) -> tensor<1x3x2x4xf32> {
  // expected-error @below {{expects masks to be made by mask ops, got one as result 0}}
  %m = scf.if %if -> !fovea.mask {
    %c = fovea.mask_causal
    // expected-error @below {{expects no mask to cross it}}
    scf.yield %c : !fovea.mask
  } else {
    %w = fovea.mask_window left(3) right(0)
    // expected-error @below {{expects no mask to cross it}}
    scf.yield %w : !fovea.mask
  }
  %o = fovea.attention %q, %q, %q mask(%m) : tensor<1x3x2x4xf32>, tensor<1x3x2x4xf32>, tensor<1x3x2x4xf32> -> tensor<1x3x2x4xf32>
  return %o : tensor<1x3x2x4xf32>
}
