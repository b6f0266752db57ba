// RUN: fovea-opt %s -split-input-file -verify-diagnostics

// What fovea.position_sinusoidal refuses, by the number of the constraint.

func.func @position_sinusoidal_c1_odd(%p: tensor<1x?xi32>) {
  // expected-error @below {{expects an even static width, got 'tensor<1x?x5xf32>'}}
  %e = fovea.position_sinusoidal interleaved %p theta(10000.0) : tensor<1x?xi32> -> tensor<1x?x5xf32>
  return
}

// -----

func.func @position_sinusoidal_c1_dynamic(%p: tensor<1x?xi32>) {
  // expected-error @below {{expects an even static width, got 'tensor<1x?x?xf32>'}}
  %e = fovea.position_sinusoidal interleaved %p theta(10000.0) : tensor<1x?xi32> -> tensor<1x?x?xf32>
  return
}

// -----

func.func @position_sinusoidal_c1_length(%p: tensor<1x5xi32>) {
  // expected-error @below {{expects a result like 'tensor<1x5x4xf32>', got 'tensor<1x6x4xf32>'}}
  %e = fovea.position_sinusoidal interleaved %p theta(10000.0) : tensor<1x5xi32> -> tensor<1x6x4xf32>
  return
}

// -----

func.func @position_sinusoidal_c2(%p: tensor<1x5xi32>) {
  // expected-error @below {{expects a positive finite theta, got -1}}
  %e = fovea.position_sinusoidal interleaved %p theta(-1.0) : tensor<1x5xi32> -> tensor<1x5x4xf32>
  return
}
