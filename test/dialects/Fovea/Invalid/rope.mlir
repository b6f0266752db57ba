// RUN: fovea-opt %s -split-input-file -verify-diagnostics

// What fovea.rope refuses, by the number of the constraint.

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
