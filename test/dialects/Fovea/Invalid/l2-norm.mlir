// RUN: fovea-opt %s -split-input-file -verify-diagnostics

// What fovea.l2_norm refuses, by the number of the constraint.

func.func @l2_norm_c1(%x: tensor<?x?xf32>) {
  // expected-error @below {{expects a static last axis, got 'tensor<?x?xf32>'}}
  %y = fovea.l2_norm %x eps(1.0e-5) : tensor<?x?xf32>
  return
}

// -----

func.func @l2_norm_c2(%x: tensor<?x4xf32>) {
  // expected-error @below {{expects a finite eps of at least 0, got}}
  %y = fovea.l2_norm %x eps(0x7FF8000000000000) : tensor<?x4xf32>
  return
}

// -----

func.func @l2_norm_c3(%x: tensor<?x4xf32>) {
  // expected-error @below {{failed to verify that all of {input, result} have same type}}
  %y = "fovea.l2_norm"(%x) <{eps = 1.0e-5 : f64}> : (tensor<?x4xf32>) -> tensor<?x5xf32>
  return
}
