// RUN: fovea-opt %s -split-input-file -verify-diagnostics

// What fovea.mask_global refuses, by the number of the constraint.

func.func @mask_global_c1() {
  // expected-error @below {{expects a positive number of tokens, got 0}}
  %m = fovea.mask_global tokens(0)
  return
}

// -----

func.func @mask_global_c1_negative() {
  // expected-error @below {{expects a positive number of tokens, got -1}}
  %m = fovea.mask_global tokens(-1)
  return
}
