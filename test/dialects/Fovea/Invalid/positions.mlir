// RUN: fovea-opt %s -split-input-file -verify-diagnostics

// What fovea.positions refuses, by the number of the constraint.

func.func @positions_c1_missing(%first: index) {
  // expected-error @below {{expects a count exactly if the length is dynamic, got 'tensor<1x?xi32>'}}
  %p = fovea.positions from %first : tensor<1x?xi32>
  return
}

// -----

func.func @positions_c1_superfluous(%first: index) {
  // expected-error @below {{expects a count exactly if the length is dynamic, got 'tensor<1x4xi32>'}}
  %p = fovea.positions from %first count %first : tensor<1x4xi32>
  return
}

// -----

func.func @positions_c2(%first: index) {
  // expected-error @below {{expects a result of one row, got 'tensor<2x4xi32>'}}
  %p = fovea.positions from %first : tensor<2x4xi32>
  return
}
