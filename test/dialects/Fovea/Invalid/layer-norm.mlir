// RUN: fovea-opt %s -split-input-file -verify-diagnostics

// What fovea.layer_norm refuses, by the number of the constraint.

func.func @layer_norm_c1_axis(%x: tensor<?x?xf32>) {
  // expected-error @below {{expects a static last axis, got 'tensor<?x?xf32>'}}
  %y = fovea.layer_norm %x eps(1.0e-5) : tensor<?x?xf32>
  return
}

// -----

func.func @layer_norm_c1_weight(%x: tensor<?x4xf32>, %w: tensor<5xf32>) {
  // expected-error @below {{expects a weight of 4 elements, got 'tensor<5xf32>'}}
  %y = fovea.layer_norm %x weight(%w : tensor<5xf32>) eps(1.0e-5) : tensor<?x4xf32>
  return
}

// -----

func.func @layer_norm_c1_bias(%x: tensor<?x4xf32>, %w: tensor<?xf32>) {
  // expected-error @below {{expects a bias of 4 elements, got 'tensor<?xf32>'}}
  %y = fovea.layer_norm %x bias(%w : tensor<?xf32>) eps(1.0e-5) : tensor<?x4xf32>
  return
}

// -----

func.func @layer_norm_c2(%x: tensor<?x4xf32>) {
  // expected-error @below {{expects a finite eps of at least 0, got -1}}
  %y = fovea.layer_norm %x eps(-1.0) : tensor<?x4xf32>
  return
}

// -----

func.func @layer_norm_c3(%x: tensor<?x4xf32>) {
  // expected-error @below {{failed to verify that all of {input, result} have same type}}
  %y = "fovea.layer_norm"(%x) <{eps = 1.0e-5 : f64, operandSegmentSizes = array<i32: 1, 0, 0>}> : (tensor<?x4xf32>) -> tensor<?x4xf64>
  return
}
