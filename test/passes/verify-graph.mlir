// RUN: fovea-opt %s --fovea-localize-masks --fovea-verify-graph --split-input-file -verify-diagnostics

// What fovea-localize-masks leaves alone is reported.

// expected-error @below {{expects no mask to enter its region, got one as argument 1}}
func.func @entry_argument(%q: tensor<1x3x2x4xf32>, %m: !fovea.mask) -> tensor<1x3x2x4xf32> attributes {fovea.entry} {
  %o = fovea.attention %q, %q, %q mask(%m) : tensor<1x3x2x4xf32>, tensor<1x3x2x4xf32>, tensor<1x3x2x4xf32> -> tensor<1x3x2x4xf32>
  return %o : tensor<1x3x2x4xf32>
}

// -----

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

// -----

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

// -----

// A function that calls itself with its own mask has none that could be rebuilt.

// expected-error @below {{expects no mask to enter its region, got one as argument 0}}
func.func private @recursive(%m: !fovea.mask) {
  // expected-error @below {{expects no mask to cross it}}
  call @recursive(%m) : (!fovea.mask) -> ()
  return
}

// -----

// Recursion is left alone also where the mask could be rebuilt.

// expected-error @below {{expects no mask to enter its region, got one as argument 0}}
func.func private @recursive_window(%m: !fovea.mask) {
  %w = fovea.mask_window left(3) right(0)
  // expected-error @below {{expects no mask to cross it}}
  call @recursive_window(%w) : (!fovea.mask) -> ()
  return
}
func.func @outer() {
  %c = fovea.mask_causal
  // expected-error @below {{expects no mask to cross it}}
  call @recursive_window(%c) : (!fovea.mask) -> ()
  return
}
