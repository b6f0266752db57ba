// RUN: fovea verify %s | FileCheck %s

// Buckets in native code and in the interpreter: queries and keys are so far apart that all of them are met. At distance 64
// the logarithm of T5's encoder is a whole number, which rounding must not push below itself.

// CHECK: 10 outputs agree
func.func @both_ways(%q: tensor<1x150x2x8xf32> {fovea.name = "q"}, %k: tensor<1x150x2x8xf32> {fovea.name = "k"}, %v: tensor<1x150x2x8xf32> {fovea.name = "v"}, %t: tensor<32x2xf32> {fovea.name = "table"}) -> (tensor<1x150x2x8xf32> {fovea.name = "o"}) attributes {fovea.entry} {
  %o = fovea.attention %q, %k, %v score(%t : tensor<32x2xf32> by (b, h, i, j) -> ()) {
  ^bb0(%s: f32, %table: tensor<32x2xf32>, %b: index, %h: index, %i: i32, %j: i32):
    %bias = fovea.relative_bias %table[%h] at(%i, %j) {bidirectional, buckets = 32 : i64, max_distance = 128 : i64} : tensor<32x2xf32> -> f32
    %sum = arith.addf %s, %bias : f32
    fovea.yield %sum : f32
  } : tensor<1x150x2x8xf32>, tensor<1x150x2x8xf32>, tensor<1x150x2x8xf32> -> tensor<1x150x2x8xf32>
  return %o : tensor<1x150x2x8xf32>
}

func.func @one_way(%q: tensor<1x150x2x8xf32> {fovea.name = "q"}, %k: tensor<1x150x2x8xf32> {fovea.name = "k"}, %v: tensor<1x150x2x8xf32> {fovea.name = "v"}, %t: tensor<8x2xf32> {fovea.name = "table"}) -> (tensor<1x150x2x8xf32> {fovea.name = "o"}) attributes {fovea.entry} {
  %o = fovea.attention %q, %k, %v score(%t : tensor<8x2xf32> by (b, h, i, j) -> ()) {
  ^bb0(%s: f32, %table: tensor<8x2xf32>, %b: index, %h: index, %i: i32, %j: i32):
    %bias = fovea.relative_bias %table[%h] at(%i, %j) {buckets = 8 : i64, max_distance = 64 : i64} : tensor<8x2xf32> -> f32
    %sum = arith.addf %s, %bias : f32
    fovea.yield %sum : f32
  } : tensor<1x150x2x8xf32>, tensor<1x150x2x8xf32>, tensor<1x150x2x8xf32> -> tensor<1x150x2x8xf32>
  return %o : tensor<1x150x2x8xf32>
}
