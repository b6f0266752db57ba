// RUN: fovea-opt %s -split-input-file -verify-diagnostics

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

// -----

func.func @rope_c1_head_size(%x: tensor<?x?x8x?xf32>, %p: tensor<1x?xi32>) {
  // expected-error @below {{expects a static head size, got 'tensor<?x?x8x?xf32>'}}
  %r = fovea.rope half %x at(%p : tensor<1x?xi32>) dim(64) theta(10000.0) : tensor<?x?x8x?xf32>
  return
}

// -----

func.func @rope_c1_result(%x: tensor<?x?x8x64xf32>, %p: tensor<1x?xi32>) {
  // expected-error @below {{failed to verify that all of {input, result} have same type}}
  %r = "fovea.rope"(%x, %p) <{pairing = 0 : i32, dim = 64 : i64, theta = 1.0e4 : f64}> : (tensor<?x?x8x64xf32>, tensor<1x?xi32>) -> tensor<?x?x8x32xf32>
  return
}

// -----

func.func @rope_c2_odd(%x: tensor<?x?x8x64xf32>, %p: tensor<1x?xi32>) {
  // expected-error @below {{expects an even dim between 2 and the head size 64, got 7}}
  %r = fovea.rope half %x at(%p : tensor<1x?xi32>) dim(7) theta(10000.0) : tensor<?x?x8x64xf32>
  return
}

// -----

func.func @rope_c2_negative(%x: tensor<?x?x8x64xf32>, %p: tensor<1x?xi32>) {
  // expected-error @below {{expects an even dim between 2 and the head size 64, got -2}}
  %r = fovea.rope half %x at(%p : tensor<1x?xi32>) dim(-2) theta(10000.0) : tensor<?x?x8x64xf32>
  return
}

// -----

func.func @rope_c2_too_large(%x: tensor<?x?x8x64xf32>, %p: tensor<1x?xi32>) {
  // expected-error @below {{expects an even dim between 2 and the head size 64, got 66}}
  %r = fovea.rope half %x at(%p : tensor<1x?xi32>) dim(66) theta(10000.0) : tensor<?x?x8x64xf32>
  return
}

// -----

func.func @rope_c3_batch(%x: tensor<4x?x8x64xf32>, %p: tensor<2x?xi32>) {
  // expected-error @below {{expects positions for 'tensor<4x?x8x64xf32>', got 'tensor<2x?xi32>'}}
  %r = fovea.rope half %x at(%p : tensor<2x?xi32>) dim(64) theta(10000.0) : tensor<4x?x8x64xf32>
  return
}

// -----

func.func @rope_c3_length(%x: tensor<?x5x8x64xf32>, %p: tensor<1x6xi32>) {
  // expected-error @below {{expects positions for 'tensor<?x5x8x64xf32>', got 'tensor<1x6xi32>'}}
  %r = fovea.rope half %x at(%p : tensor<1x6xi32>) dim(64) theta(10000.0) : tensor<?x5x8x64xf32>
  return
}

// -----

func.func @rope_c4_zero(%x: tensor<?x?x8x64xf32>, %p: tensor<1x?xi32>) {
  // expected-error @below {{expects a positive finite theta, got 0.0}}
  %r = fovea.rope half %x at(%p : tensor<1x?xi32>) dim(64) theta(0.0) : tensor<?x?x8x64xf32>
  return
}

// -----

func.func @rope_c4_nan(%x: tensor<?x?x8x64xf32>, %p: tensor<1x?xi32>) {
  // expected-error @below {{expects a positive finite theta, got}}
  %r = fovea.rope half %x at(%p : tensor<1x?xi32>) dim(64) theta(0x7FF8000000000000) : tensor<?x?x8x64xf32>
  return
}

// -----

func.func @rope_c5(%x: tensor<?x?x8x8xf32>, %p: tensor<1x?xi32>) {
  // expected-error @below {{expects 4 longrope factors, got 3}}
  %r = fovea.rope half %x at(%p : tensor<1x?xi32>) dim(8) theta(10000.0) scaling(#fovea.rope_scaling<longrope, original = 64, shortFactors = [1.0, 1.0, 1.0], longFactors = [1.0, 2.0, 3.0]>) : tensor<?x?x8x8xf32>
  return
}

// -----

// expected-error @below {{expects a positive finite factor for 'linear', got none}}
#rope_scaling_c1_missing = #fovea.rope_scaling<linear>

// -----

// expected-error @below {{expects a positive finite factor for 'linear', got -2}}
#rope_scaling_c1_negative = #fovea.rope_scaling<linear, factor = -2.0 : f64>

// -----

// expected-error @below {{expects a positive original context for 'dynamic', got 0}}
#rope_scaling_c2 = #fovea.rope_scaling<dynamic, factor = 2.0 : f64>

// -----

// expected-error @below {{expects positive finite low and high for 'yarn', got none and 3.200000e+01 : f64}}
#rope_scaling_c3_missing = #fovea.rope_scaling<yarn, factor = 2.0 : f64, original = 64, high = 32.0 : f64>

// -----

// expected-error @below {{expects low not above high for 'yarn', got 3.300000e+01 : f64 and 3.200000e+01 : f64}}
#rope_scaling_c3_yarn = #fovea.rope_scaling<yarn, factor = 2.0 : f64, original = 64, low = 33.0 : f64, high = 32.0 : f64>

// -----

// expected-error @below {{expects low below high for 'llama3', got 4.000000e+00 : f64 and 4.000000e+00 : f64}}
#rope_scaling_c3_llama3 = #fovea.rope_scaling<llama3, factor = 2.0 : f64, original = 64, low = 4.0 : f64, high = 4.0 : f64>

// -----

// expected-error @below {{expects short and long factors of equal number for 'longrope', got 2 and 1}}
#rope_scaling_c4_number = #fovea.rope_scaling<longrope, original = 64, shortFactors = [1.0, 1.0], longFactors = [1.0]>

// -----

// expected-error @below {{expects positive finite factors for 'longrope', got array<f64: 1.000000e+00, 1.000000e+00> and array<f64: 1.000000e+00, 0.000000e+00>}}
#rope_scaling_c4_zero = #fovea.rope_scaling<longrope, original = 64, shortFactors = [1.0, 1.0], longFactors = [1.0, 0.0]>

// -----

// expected-error @below {{expects a positive finite attentionFactor, got 0.000000e+00 : f64}}
#rope_scaling_c5 = #fovea.rope_scaling<longrope, original = 64, attentionFactor = 0.0 : f64, shortFactors = [1.0], longFactors = [1.0]>

// -----

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

// -----

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
