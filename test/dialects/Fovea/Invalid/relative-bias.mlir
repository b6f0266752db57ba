// RUN: fovea-opt %s -split-input-file -verify-diagnostics

// What fovea.relative_bias refuses, by the number of the constraint.

func.func @relative_bias_c1(%t: tensor<16x8xf32>, %h: index, %i: i32) {
  // expected-error @below {{expects a table of 32 rows, got 'tensor<16x8xf32>'}}
  %b = fovea.relative_bias %t[%h] at(%i, %i) {buckets = 32 : i64, max_distance = 128 : i64} : tensor<16x8xf32> -> f32
  return
}

// -----

func.func @relative_bias_c2_few(%t: tensor<1x8xf32>, %h: index, %i: i32) {
  // expected-error @below {{expects at least 2 buckets, got 1}}
  %b = fovea.relative_bias %t[%h] at(%i, %i) {buckets = 1 : i64, max_distance = 128 : i64} : tensor<1x8xf32> -> f32
  return
}

// -----

func.func @relative_bias_c2_odd(%t: tensor<5x8xf32>, %h: index, %i: i32) {
  // expected-error @below {{expects at least 4 buckets, an even number, got 5}}
  %b = fovea.relative_bias %t[%h] at(%i, %i) {bidirectional, buckets = 5 : i64, max_distance = 128 : i64} : tensor<5x8xf32> -> f32
  return
}

// -----

func.func @relative_bias_c2_distance(%t: tensor<32x8xf32>, %h: index, %i: i32) {
  // expected-error @below {{expects max_distance above 16, got 16}}
  %b = fovea.relative_bias %t[%h] at(%i, %i) {buckets = 32 : i64, max_distance = 16 : i64} : tensor<32x8xf32> -> f32
  return
}
