// RUN: fovea-opt %s -split-input-file -verify-diagnostics

// What fovea.linear refuses of scales and of weights of integers, by the number of the constraint.

func.func @linear_c4_integers(%x: tensor<?x8xf32>, %w: tensor<5x8xi8>) {
  // expected-error @below {{expects scales for a weight of integers, got 'tensor<5x8xi8>'}}
  %y = fovea.linear %x, %w : tensor<?x8xf32>, tensor<5x8xi8> -> tensor<?x5xf32>
  return
}

// -----

func.func @linear_c4_floats(%x: tensor<?x8xf32>, %w: tensor<5x8xf16>, %s: tensor<5xf32>) {
  // expected-error @below {{expects no scales for a weight of floats, got 'tensor<5x8xf16>'}}
  %y = fovea.linear %x, %w scales(%s : tensor<5xf32>) : tensor<?x8xf32>, tensor<5x8xf16> -> tensor<?x5xf32>
  return
}

// -----

func.func @linear_c5_outputs(%x: tensor<?x8xf32>, %w: tensor<5x8xi8>, %s: tensor<8xf32>) {
  // expected-error @below {{expects scales for 5 outputs, got 'tensor<8xf32>'}}
  %y = fovea.linear %x, %w scales(%s : tensor<8xf32>) : tensor<?x8xf32>, tensor<5x8xi8> -> tensor<?x5xf32>
  return
}

// -----

func.func @linear_c5_dynamic(%x: tensor<?x8xf32>, %w: tensor<5x8xi8>, %s: tensor<?xf32>) {
  // expected-error @below {{expects scales for 5 outputs, got 'tensor<?xf32>'}}
  %y = fovea.linear %x, %w scales(%s : tensor<?xf32>) : tensor<?x8xf32>, tensor<5x8xi8> -> tensor<?x5xf32>
  return
}

// -----

func.func @linear_c5_half(%x: tensor<?x8xf32>, %w: tensor<5x8xi8>, %s: tensor<5xf16>) {
  // expected-error @below {{expects one scale for each output to be f32, got 'tensor<5xf16>'}}
  %y = fovea.linear %x, %w scales(%s : tensor<5xf16>) : tensor<?x8xf32>, tensor<5x8xi8> -> tensor<?x5xf32>
  return
}

// -----

func.func @linear_c5_groups(%x: tensor<?x8xf32>, %w: tensor<5x8xi8>, %s: tensor<5x3xf16>) {
  // expected-error @below {{expects groups that divide 8 inputs evenly, got 'tensor<5x3xf16>'}}
  %y = fovea.linear %x, %w scales(%s : tensor<5x3xf16>) : tensor<?x8xf32>, tensor<5x8xi8> -> tensor<?x5xf32>
  return
}

// -----

func.func @linear_c5_no_groups(%x: tensor<?x8xf32>, %w: tensor<5x8xi8>, %s: tensor<5x0xf16>) {
  // expected-error @below {{expects groups that divide 8 inputs evenly, got 'tensor<5x0xf16>'}}
  %y = fovea.linear %x, %w scales(%s : tensor<5x0xf16>) : tensor<?x8xf32>, tensor<5x8xi8> -> tensor<?x5xf32>
  return
}

// -----

func.func @linear_c6_groups(%x: tensor<?x8xf32>, %w: tensor<5x8xi4>, %s: tensor<5x8xf16>) {
  // expected-error @below {{expects an even number of inputs in rows and groups of i4, got 1 of 8}}
  %y = fovea.linear %x, %w scales(%s : tensor<5x8xf16>) : tensor<?x8xf32>, tensor<5x8xi4> -> tensor<?x5xf32>
  return
}

// -----

func.func @linear_c6_rows(%x: tensor<?x3xf32>, %w: tensor<5x3xi4>, %s: tensor<5xf32>) {
  // expected-error @below {{expects an even number of inputs in rows and groups of i4, got 3 of 3}}
  %y = fovea.linear %x, %w scales(%s : tensor<5xf32>) : tensor<?x3xf32>, tensor<5x3xi4> -> tensor<?x5xf32>
  return
}

// -----

func.func @linear_c7_floats(%x: tensor<?x8xf32>, %w: tensor<5x8xbf16>) {
  // expected-error @below {{expects to quantize rows of f32, of at most 65536 elements, for a weight of integers, got 'tensor<?x8xf32>' and 'tensor<5x8xbf16>'}}
  %y = fovea.linear %x, %w quantize_rows : tensor<?x8xf32>, tensor<5x8xbf16> -> tensor<?x5xf32>
  return
}

// -----

func.func @linear_c7_halves(%x: tensor<?x8xbf16>, %w: tensor<5x8xi8>, %s: tensor<5xf32>) {
  // expected-error @below {{expects to quantize rows of f32, of at most 65536 elements, for a weight of integers, got 'tensor<?x8xbf16>'}}
  %y = fovea.linear %x, %w quantize_rows scales(%s : tensor<5xf32>) : tensor<?x8xbf16>, tensor<5x8xi8> -> tensor<?x5xf32>
  return
}

// -----

func.func @linear_c7_long(%x: tensor<?x65538xf32>, %w: tensor<5x65538xi8>, %s: tensor<5xf32>) {
  // expected-error @below {{expects to quantize rows of f32, of at most 65536 elements}}
  %y = fovea.linear %x, %w quantize_rows scales(%s : tensor<5xf32>) : tensor<?x65538xf32>, tensor<5x65538xi8> -> tensor<?x5xf32>
  return
}
