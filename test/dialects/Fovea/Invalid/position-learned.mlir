// RUN: fovea-opt %s -split-input-file -verify-diagnostics

// What fovea.position_learned refuses, by the number of the constraint.

func.func @position_learned_c1_table(%p: tensor<1x?xi32>, %t: tensor<?x4xf32>) {
  // expected-error @below {{expects a table of static shape, got 'tensor<?x4xf32>'}}
  %e = fovea.position_learned %p, %t : tensor<1x?xi32>, tensor<?x4xf32> -> tensor<1x?x4xf32>
  return
}

// -----

func.func @position_learned_c1_width(%p: tensor<1x?xi32>, %t: tensor<9x4xf32>) {
  // expected-error @below {{expects a result like 'tensor<1x?x4xf32>', got 'tensor<1x?x5xf32>'}}
  %e = fovea.position_learned %p, %t : tensor<1x?xi32>, tensor<9x4xf32> -> tensor<1x?x5xf32>
  return
}

// -----

func.func @position_learned_c2(%p: tensor<1x?xi32>, %t: tensor<9x4xf64>) {
  // expected-error @below {{expects a result that holds every 'f64', got 'f32'}}
  %e = fovea.position_learned %p, %t : tensor<1x?xi32>, tensor<9x4xf64> -> tensor<1x?x4xf32>
  return
}
