// RUN: fovea-opt %s -split-input-file -verify-diagnostics

// What fovea.rms_norm refuses, by the number of the constraint.

func.func @rms_norm_c1_axis(%x: tensor<f32>) {
  // expected-error @below {{expects a static last axis, got 'tensor<f32>'}}
  %y = fovea.rms_norm %x eps(1.0e-5) : tensor<f32>
  return
}

// -----

func.func @rms_norm_c1_weight(%x: tensor<?x4xf32>, %w: tensor<5xf32>) {
  // expected-error @below {{expects a weight of 4 elements, got 'tensor<5xf32>'}}
  %y = fovea.rms_norm %x weight(%w : tensor<5xf32>) eps(1.0e-5) : tensor<?x4xf32>
  return
}

// -----

func.func @rms_norm_c2(%x: tensor<?x4xf32>) {
  // expected-error @below {{expects a finite eps of at least 0, got}}
  %y = fovea.rms_norm %x eps(0x7FF0000000000000) : tensor<?x4xf32>
  return
}

// -----

func.func @rms_norm_c3(%x: tensor<?x4xf32>) {
  // expected-error @below {{failed to verify that all of {input, result} have same type}}
  %y = "fovea.rms_norm"(%x) <{eps = 1.0e-5 : f64}> : (tensor<?x4xf32>) -> tensor<2x4xf32>
  return
}
