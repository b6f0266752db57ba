// RUN: fovea-opt %s -verify-diagnostics

// What fovea.alibi_slopes refuses, by the number of the constraint.

func.func @alibi_slopes_c1() {
  // expected-error @below {{expects a static number of heads}}
  %s = fovea.alibi_slopes : tensor<?xf32>
  return
}
