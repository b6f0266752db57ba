// RUN: fovea-opt %s -split-input-file -verify-diagnostics

// What fovea.embedding refuses, by the number of the constraint.

func.func @embedding_c1_table(%i: tensor<?x?xi64>, %t: tensor<9x?xf32>) {
  // expected-error @below {{expects a table of static shape, got 'tensor<9x?xf32>'}}
  %y = fovea.embedding %i, %t : tensor<?x?xi64>, tensor<9x?xf32> -> tensor<?x?x4xf32>
  return
}

// -----

func.func @embedding_c1_shape(%i: tensor<?x?xi64>, %t: tensor<9x4xf32>) {
  // expected-error @below {{expects a result like 'tensor<?x?x4xf32>', got 'tensor<?x4xf32>'}}
  %y = fovea.embedding %i, %t : tensor<?x?xi64>, tensor<9x4xf32> -> tensor<?x4xf32>
  return
}

// -----

func.func @embedding_c2(%i: tensor<?x?xi64>, %t: tensor<9x4xf16>) {
  // expected-error @below {{expects a result that holds every 'f16', got 'bf16'}}
  %y = fovea.embedding %i, %t : tensor<?x?xi64>, tensor<9x4xf16> -> tensor<?x?x4xbf16>
  return
}

// -----

func.func @embedding_c2_integers(%i: tensor<?x?xi64>, %t: tensor<9x4xi8>, %s: tensor<9xf32>) {
  // expected-error @below {{expects a result of f32 for a table of integers or blocks, got 'tensor<?x?x4xbf16>'}}
  %y = fovea.embedding %i, %t scales(%s : tensor<9xf32>) : tensor<?x?xi64>, tensor<9x4xi8> -> tensor<?x?x4xbf16>
  return
}

// -----

func.func @embedding_c3_integers(%i: tensor<?x?xi64>, %t: tensor<9x4xi8>) {
  // expected-error @below {{expects a scale of f32 for each of 9 rows of integers, got 'tensor<9x4xi8>'}}
  %y = fovea.embedding %i, %t : tensor<?x?xi64>, tensor<9x4xi8> -> tensor<?x?x4xf32>
  return
}

// -----

func.func @embedding_c3_sizes(%i: tensor<?x?xi64>, %t: tensor<9x4xi8>, %s: tensor<4xf32>) {
  // expected-error @below {{expects a scale of f32 for each of 9 rows of integers, got 'tensor<4xf32>'}}
  %y = fovea.embedding %i, %t scales(%s : tensor<4xf32>) : tensor<?x?xi64>, tensor<9x4xi8> -> tensor<?x?x4xf32>
  return
}

// -----

func.func @embedding_c3_floats(%i: tensor<?x?xi64>, %t: tensor<9x4xf32>, %s: tensor<9xf32>) {
  // expected-error @below {{expects no scales for a table of floats or blocks, got 'tensor<9x4xf32>'}}
  %y = fovea.embedding %i, %t scales(%s : tensor<9xf32>) : tensor<?x?xi64>, tensor<9x4xf32> -> tensor<?x?x4xf32>
  return
}
