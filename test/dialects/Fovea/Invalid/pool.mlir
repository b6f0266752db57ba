// RUN: fovea-opt %s -split-input-file -verify-diagnostics

// What fovea.pool refuses, by the number of the constraint.

func.func @pool_c1_shape(%x: tensor<?x?x4xf32>) {
  // expected-error @below {{expects a result like 'tensor<?x4xf32>', got 'tensor<?x5xf32>'}}
  %y = fovea.pool mean %x : tensor<?x?x4xf32> -> tensor<?x5xf32>
  return
}

// -----

func.func @pool_c1_element_type(%x: tensor<?x?x4xf32>) {
  // expected-error @below {{expects a result like 'tensor<?x4xf32>', got 'tensor<?x4xf64>'}}
  %y = fovea.pool mean %x : tensor<?x?x4xf32> -> tensor<?x4xf64>
  return
}

// -----

func.func @pool_c1_dynamic(%x: tensor<?x?x?xf32>) {
  // expected-error @below {{expects a static last axis, got 'tensor<?x?x?xf32>'}}
  %y = fovea.pool mean %x : tensor<?x?x?xf32> -> tensor<?x?xf32>
  return
}

// -----

func.func @pool_c2(%x: tensor<2x3x4xf32>, %m: tensor<2x4xi64>) {
  // expected-error @below {{expects to keep places of the sequence 'tensor<2x3x4xf32>', got 'tensor<2x4xi64>'}}
  %y = fovea.pool mean %x keep(%m : tensor<2x4xi64>) : tensor<2x3x4xf32> -> tensor<2x4xf32>
  return
}
