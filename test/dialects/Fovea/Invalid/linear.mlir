// RUN: fovea-opt %s -split-input-file -verify-diagnostics

// What fovea.linear refuses, by the number of the constraint.

func.func @linear_c1_weight(%x: tensor<?x?x4xf32>, %w: tensor<?x4xf32>) {
  // expected-error @below {{expects a weight of static shape, got 'tensor<?x4xf32>'}}
  %y = fovea.linear %x, %w : tensor<?x?x4xf32>, tensor<?x4xf32> -> tensor<?x?x5xf32>
  return
}

// -----

func.func @linear_c1_axis(%x: tensor<?x?x4xf32>, %w: tensor<5x3xf32>) {
  // expected-error @below {{expects the input's last axis to be the weight's 3, got 'tensor<?x?x4xf32>'}}
  %y = fovea.linear %x, %w : tensor<?x?x4xf32>, tensor<5x3xf32> -> tensor<?x?x5xf32>
  return
}

// -----

func.func @linear_c1_dynamic(%x: tensor<?x?x?xf32>, %w: tensor<5x3xf32>) {
  // expected-error @below {{expects the input's last axis to be the weight's 3, got 'tensor<?x?x?xf32>'}}
  %y = fovea.linear %x, %w : tensor<?x?x?xf32>, tensor<5x3xf32> -> tensor<?x?x5xf32>
  return
}

// -----

func.func @linear_c1_scalar(%x: tensor<f32>, %w: tensor<5x3xf32>) {
  // expected-error @below {{expects the input's last axis to be the weight's 3, got 'tensor<f32>'}}
  %y = fovea.linear %x, %w : tensor<f32>, tensor<5x3xf32> -> tensor<f32>
  return
}

// -----

func.func @linear_c2_shape(%x: tensor<?x?x3xf32>, %w: tensor<5x3xf32>) {
  // expected-error @below {{expects a result like 'tensor<?x?x5xf32>', got 'tensor<?x?x3xf32>'}}
  %y = fovea.linear %x, %w : tensor<?x?x3xf32>, tensor<5x3xf32> -> tensor<?x?x3xf32>
  return
}

// -----

func.func @linear_c2_element_type(%x: tensor<?x?x3xf32>, %w: tensor<5x3xf32>) {
  // expected-error @below {{expects a result like 'tensor<?x?x5xf32>', got 'tensor<?x?x5xf64>'}}
  %y = fovea.linear %x, %w : tensor<?x?x3xf32>, tensor<5x3xf32> -> tensor<?x?x5xf64>
  return
}

// -----

func.func @linear_c3(%x: tensor<?x?x3xf32>, %w: tensor<5x3xf32>, %b: tensor<3xf32>) {
  // expected-error @below {{expects a bias of 5 elements, got 'tensor<3xf32>'}}
  %y = fovea.linear %x, %w bias(%b : tensor<3xf32>) : tensor<?x?x3xf32>, tensor<5x3xf32> -> tensor<?x?x5xf32>
  return
}
