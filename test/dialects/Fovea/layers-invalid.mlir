// RUN: fovea-opt %s -split-input-file -verify-diagnostics

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

// -----

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

// -----

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

// -----

func.func @rms_norm_c1_axis(%x: tensor<f32>) {
  // expected-error @below {{expects a static last axis, got 'tensor<f32>'}}
  %y = fovea.rms_norm %x eps(1.0e-5) : tensor<f32>
  return
}

// -----

func.func @rms_norm_c1_weight(%x: tensor<?x4xf32>, %w: tensor<5xf32>) {
  // expected-error @below {{expects a weight of 4 elements, got 'tensor<5xf32>'}}
  %y = fovea.rms_norm %x weight(%w : tensor<5xf32>) eps(1.0e-5) : tensor<?x4xf32>
  return
}

// -----

func.func @rms_norm_c2(%x: tensor<?x4xf32>) {
  // expected-error @below {{expects a finite eps of at least 0, got}}
  %y = fovea.rms_norm %x eps(0x7FF0000000000000) : tensor<?x4xf32>
  return
}

// -----

func.func @rms_norm_c3(%x: tensor<?x4xf32>) {
  // expected-error @below {{failed to verify that all of {input, result} have same type}}
  %y = "fovea.rms_norm"(%x) <{eps = 1.0e-5 : f64}> : (tensor<?x4xf32>) -> tensor<2x4xf32>
  return
}

// -----

func.func @l2_norm_c1(%x: tensor<?x?xf32>) {
  // expected-error @below {{expects a static last axis, got 'tensor<?x?xf32>'}}
  %y = fovea.l2_norm %x eps(1.0e-5) : tensor<?x?xf32>
  return
}

// -----

func.func @l2_norm_c2(%x: tensor<?x4xf32>) {
  // expected-error @below {{expects a finite eps of at least 0, got}}
  %y = fovea.l2_norm %x eps(0x7FF8000000000000) : tensor<?x4xf32>
  return
}

// -----

func.func @l2_norm_c3(%x: tensor<?x4xf32>) {
  // expected-error @below {{failed to verify that all of {input, result} have same type}}
  %y = "fovea.l2_norm"(%x) <{eps = 1.0e-5 : f64}> : (tensor<?x4xf32>) -> tensor<?x5xf32>
  return
}

// -----

func.func @activation_same_type(%x: tensor<?x4xf32>) {
  // expected-error @below {{requires the same type for all operands and results}}
  %y = "fovea.activation"(%x) <{kind = 0 : i32}> : (tensor<?x4xf32>) -> tensor<?x4xf64>
  return
}

// -----

func.func @glu_same_type(%x: tensor<?x4xf32>, %u: tensor<?x5xf32>) {
  // expected-error @below {{requires the same type for all operands and results}}
  %y = "fovea.glu"(%x, %u) <{kind = 0 : i32}> : (tensor<?x4xf32>, tensor<?x5xf32>) -> tensor<?x4xf32>
  return
}

// -----

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

// -----

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

// -----

func.func @dropout_c1_one(%x: tensor<2x4xf32>) {
  // expected-error @below {{expects a rate of at least 0 and below 1, got 1}}
  %y = fovea.dropout %x rate(1.0) : tensor<2x4xf32>
  return
}

// -----

func.func @dropout_c1_nan(%x: tensor<2x4xf32>) {
  // expected-error @below {{expects a rate of at least 0 and below 1, got}}
  %y = fovea.dropout %x rate(0x7FF8000000000000) : tensor<2x4xf32>
  return
}
