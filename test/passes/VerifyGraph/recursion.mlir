// RUN: fovea-opt %s --fovea-localize-masks --fovea-verify-graph --split-input-file -verify-diagnostics

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
