// RUN: fovea-opt %s --fovea-localize-masks --fovea-verify-graph -verify-diagnostics

// A function that gives a mask.

func.func private @gives() -> !fovea.mask {
  %m = fovea.mask_causal
  // expected-error @below {{expects no mask to cross it, got one as operand 0}}
  return %m : !fovea.mask
}

func.func @function_result(%q: tensor<1x3x2x4xf32>) -> tensor<1x3x2x4xf32> {
  // expected-error @below {{expects masks to be made by mask ops, got one as result 0}}
  %m = call @gives() : () -> !fovea.mask
  %o = fovea.attention %q, %q, %q mask(%m) : tensor<1x3x2x4xf32>, tensor<1x3x2x4xf32>, tensor<1x3x2x4xf32> -> tensor<1x3x2x4xf32>
  return %o : tensor<1x3x2x4xf32>
}
