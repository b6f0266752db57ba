// RUN: fovea-opt %s -split-input-file -verify-diagnostics

func.func @mask_window_c1() {
  // expected-error @below {{expects a bound on the left, on the right, or both}}
  %m = fovea.mask_window
  return
}

// -----

func.func @mask_window_c2() {
  // expected-error @below {{expects -left <= right, got left -3 and right 2}}
  %m = fovea.mask_window left(-3) right(2)
  return
}

// -----

func.func @mask_window_c3_right() {
  // expected-error @below {{expects bounds between -4294967296 and 4294967296, got 4294967297}}
  %m = fovea.mask_window left(0) right(4294967297)
  return
}

// -----

// Its negation would not be a number of 64 bits.
func.func @mask_window_c3_least() {
  // expected-error @below {{expects bounds between -4294967296 and 4294967296, got -9223372036854775808}}
  %m = fovea.mask_window left(-9223372036854775808)
  return
}

// -----

func.func @mask_length_c1(%q: tensor<4x?x8x64xf32>, %k: tensor<4x?x2x64xf32>, %n: tensor<3xi32>) {
  %m = fovea.mask_length %n : tensor<3xi32>
  // expected-error @below {{expects the mask's 'fovea.mask_length' to take 'tensor<4xi32>', got 'tensor<3xi32>'}}
  %o = fovea.attention %q, %k, %k mask(%m) : tensor<4x?x8x64xf32>, tensor<4x?x2x64xf32>, tensor<4x?x2x64xf32> -> tensor<4x?x8x64xf32>
  return
}

// -----

func.func @mask_length_rank(%n: tensor<?x1xi32>) {
  // expected-error @below {{operand #0 must be 1D tensor of 32-bit signless integer values}}
  %m = "fovea.mask_length"(%n) : (tensor<?x1xi32>) -> !fovea.mask
  return
}

// -----

func.func @mask_prefix_c1(%q: tensor<4x?x8x64xf32>, %k: tensor<4x?x2x64xf32>, %n: tensor<3xi32>) {
  %p = fovea.mask_prefix %n : tensor<3xi32>
  %c = fovea.mask_causal
  %m = fovea.mask_or(%c, %p)
  // expected-error @below {{expects the mask's 'fovea.mask_prefix' to take 'tensor<4xi32>', got 'tensor<3xi32>'}}
  %o = fovea.attention %q, %k, %k mask(%m) : tensor<4x?x8x64xf32>, tensor<4x?x2x64xf32>, tensor<4x?x2x64xf32> -> tensor<4x?x8x64xf32>
  return
}

// -----

func.func @mask_segment_c1(%a: tensor<2x?xi32>, %b: tensor<3x?xi32>) {
  // expected-error @below {{expects query and key segments of one batch size, got 2 and 3}}
  %m = fovea.mask_segment %a, %b : tensor<2x?xi32>, tensor<3x?xi32>
  return
}

// -----

func.func @mask_segment_c2_queries(%q: tensor<?x3x8x64xf32>, %k: tensor<?x5x2x64xf32>, %a: tensor<?x4xi32>, %b: tensor<?x5xi32>) {
  %m = fovea.mask_segment %a, %b : tensor<?x4xi32>, tensor<?x5xi32>
  // expected-error @below {{expects the mask's 'fovea.mask_segment' to take 'tensor<?x3xi32>', got 'tensor<?x4xi32>'}}
  %o = fovea.attention %q, %k, %k mask(%m) : tensor<?x3x8x64xf32>, tensor<?x5x2x64xf32>, tensor<?x5x2x64xf32> -> tensor<?x3x8x64xf32>
  return
}

// -----

func.func @mask_segment_c2_keys(%q: tensor<?x3x8x64xf32>, %k: tensor<?x5x2x64xf32>, %a: tensor<?x3xi32>, %b: tensor<?x1xi32>) {
  %m = fovea.mask_segment %a, %b : tensor<?x3xi32>, tensor<?x1xi32>
  // expected-error @below {{expects the mask's 'fovea.mask_segment' to take 'tensor<?x5xi32>', got 'tensor<?x1xi32>'}}
  %o = fovea.attention %q, %k, %k mask(%m) : tensor<?x3x8x64xf32>, tensor<?x5x2x64xf32>, tensor<?x5x2x64xf32> -> tensor<?x3x8x64xf32>
  return
}

// -----

func.func @mask_global_c1() {
  // expected-error @below {{expects a positive number of tokens, got 0}}
  %m = fovea.mask_global tokens(0)
  return
}

// -----

func.func @mask_global_c1_negative() {
  // expected-error @below {{expects a positive number of tokens, got -1}}
  %m = fovea.mask_global tokens(-1)
  return
}

// -----

func.func @mask_dense_c1_rank(%t: tensor<1x1x1x1x1xi1>) {
  // expected-error @below {{operand #0 must be 1D/2D/3D/4D tensor of 1-bit signless integer}}
  %m = "fovea.mask_dense"(%t) : (tensor<1x1x1x1x1xi1>) -> !fovea.mask
  return
}

// -----

func.func @mask_dense_c1_element_type(%t: tensor<?x?xf32>) {
  // expected-error @below {{operand #0 must be 1D/2D/3D/4D tensor of 1-bit signless integer}}
  %m = "fovea.mask_dense"(%t) : (tensor<?x?xf32>) -> !fovea.mask
  return
}

// -----

func.func @mask_dense_c2(%d: tensor<2x8x3x5xi1>, %b: index) {
  %m = fovea.mask_dense %d : tensor<2x8x3x5xi1>
  // expected-error @below {{expects the mask's 'fovea.mask_dense' to take 'tensor<?x4x3x5xi1>', got 'tensor<2x8x3x5xi1>'}}
  %t = fovea.mask_materialize %m [%b] : tensor<?x4x3x5xi1>
  return
}

// -----

func.func @mask_materialize_c1(%b: index) {
  %m = fovea.mask_causal
  // expected-error @below {{expects 2 sizes, got 1}}
  %t = fovea.mask_materialize %m [%b] : tensor<?x4x?x5xi1>
  return
}

// -----

func.func @mask_materialize_c2_batch(%p: tensor<3x5xi32>) {
  %m = fovea.mask_causal
  // expected-error @below {{expects query positions for 'tensor<2x4x5x5xi1>', got 'tensor<3x5xi32>'}}
  %t = fovea.mask_materialize %m [] q_pos(%p : tensor<3x5xi32>) : tensor<2x4x5x5xi1>
  return
}

// -----

func.func @mask_materialize_c2_length(%p: tensor<1x5xi32>) {
  %m = fovea.mask_causal
  // expected-error @below {{expects key positions for 'tensor<2x4x5x6xi1>', got 'tensor<1x5xi32>'}}
  %t = fovea.mask_materialize %m [] k_pos(%p : tensor<1x5xi32>) : tensor<2x4x5x6xi1>
  return
}

// -----

func.func @mask_materialize_c3(%n: tensor<3xi32>) {
  %m = fovea.mask_length %n : tensor<3xi32>
  // expected-error @below {{expects the mask's 'fovea.mask_length' to take 'tensor<2xi32>', got 'tensor<3xi32>'}}
  %t = fovea.mask_materialize %m [] : tensor<2x4x5x6xi1>
  return
}

// -----

func.func @mask_and_takes_masks(%x: tensor<2x2xi1>) {
  // expected-error @below {{operand #0 must be variadic of Which keys a query may attend to}}
  %t = "fovea.mask_and"(%x) : (tensor<2x2xi1>) -> !fovea.mask
  return
}
