// RUN: fovea-opt %s -split-input-file -verify-diagnostics

// What fovea.dropout refuses, by the number of the constraint.

func.func @dropout_c1_one(%x: tensor<2x4xf32>) {
  // expected-error @below {{expects a rate of at least 0 and below 1, got 1}}
  %y = fovea.dropout %x rate(1.0) : tensor<2x4xf32>
  return
}

// -----

func.func @dropout_c1_nan(%x: tensor<2x4xf32>) {
  // expected-error @below {{expects a rate of at least 0 and below 1, got}}
  %y = fovea.dropout %x rate(0x7FF8000000000000) : tensor<2x4xf32>
  return
}
