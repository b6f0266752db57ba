// RUN: fovea-opt %s -split-input-file -verify-diagnostics

// What fovea.argmax refuses, by the number of the constraint.

func.func @argmax_c1_dynamic(%x: tensor<2x?xf32>) {
  // expected-error @below {{expects a static last axis, got 'tensor<2x?xf32>'}}
  %y = fovea.argmax %x : tensor<2x?xf32> -> tensor<2xi64>
  return
}

// -----

func.func @argmax_c1_rank(%x: tensor<f32>) {
  // expected-error @below {{expects a static last axis, got 'tensor<f32>'}}
  %y = fovea.argmax %x : tensor<f32> -> tensor<i64>
  return
}

// -----

func.func @argmax_c1_empty(%x: tensor<2x0xf32>) {
  // expected-error @below {{expects a row to have an element, got 'tensor<2x0xf32>'}}
  %y = fovea.argmax %x : tensor<2x0xf32> -> tensor<2xi64>
  return
}

// -----

func.func @argmax_c2_rank(%x: tensor<2x3x4xf32>) {
  // expected-error @below {{expects a result like 'tensor<2x3xi64>', got 'tensor<2xi64>'}}
  %y = fovea.argmax %x : tensor<2x3x4xf32> -> tensor<2xi64>
  return
}

// -----

func.func @argmax_c2_size(%x: tensor<2x4xf32>) {
  // expected-error @below {{expects a result like 'tensor<2xi64>', got 'tensor<3xi64>'}}
  %y = fovea.argmax %x : tensor<2x4xf32> -> tensor<3xi64>
  return
}

// -----

func.func @argmax_c2_element_type(%x: tensor<2x4xf32>) {
  // expected-error @below {{must be ranked tensor of 64-bit signless integer values, but got 'tensor<2xi32>'}}
  %y = fovea.argmax %x : tensor<2x4xf32> -> tensor<2xi32>
  return
}
