// RUN: fovea-opt %s -split-input-file -verify-diagnostics

// What fovea.gated_norm refuses, by the number of the constraint.

func.func @gated_norm_c1_axis(%x: tensor<?xf32>, %w: tensor<5xf32>) {
  // expected-error @below {{expects a static last axis, got 'tensor<?xf32>'}}
  %y = fovea.gated_norm %x gate(%x) weight(%w : tensor<5xf32>) eps(1.0e-5) : tensor<?xf32>
  return
}

// -----

func.func @gated_norm_c1_weight(%x: tensor<?x4xf32>, %w: tensor<5xf32>) {
  // expected-error @below {{expects a weight of 4 elements, got 'tensor<5xf32>'}}
  %y = fovea.gated_norm %x gate(%x) weight(%w : tensor<5xf32>) eps(1.0e-5) : tensor<?x4xf32>
  return
}

// -----

func.func @gated_norm_c2(%x: tensor<?x4xf32>, %w: tensor<4xf32>) {
  // expected-error @below {{expects a finite eps of at least 0, got}}
  %y = fovea.gated_norm %x gate(%x) weight(%w : tensor<4xf32>) eps(-1.0) : tensor<?x4xf32>
  return
}

// -----

func.func @gated_norm_c3(%x: tensor<?x4xf32>, %z: tensor<2x4xf32>, %w: tensor<4xf32>) {
  // expected-error @below {{failed to verify that all of {input, gate, result} have same type}}
  %y = "fovea.gated_norm"(%x, %z, %w) <{eps = 1.0e-5 : f64}> : (tensor<?x4xf32>, tensor<2x4xf32>, tensor<4xf32>) -> tensor<?x4xf32>
  return
}
