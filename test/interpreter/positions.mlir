// RUN: fovea-interpret %s | FileCheck %s

// Rotary scalings are compared with transformers in test_rope.py.

// CHECK-LABEL: @positions
// CHECK-NEXT: 1x3 [5, 6, 7]
// CHECK-NEXT: 1x2 [5, 6]
func.func @positions() -> (tensor<1x?xi32>, tensor<1x2xi32>) {
  %first = arith.constant 5 : index
  %n = arith.constant 3 : index
  %0 = fovea.positions from %first count %n : tensor<1x?xi32>
  %1 = fovea.positions from %first : tensor<1x2xi32>
  return %0, %1 : tensor<1x?xi32>, tensor<1x2xi32>
}

// theta such that pair 1 turns by a tenth of pair 0; position 1. Elements past dim stay.
// CHECK-LABEL: @rope
// CHECK-NEXT: 1x1x1x5 [0.540302, 0, 0.841471, 1, 9]
// CHECK-NEXT: 1x1x1x5 [0.540302, 0.841471, -0.0998334, 0.995004, 9]
func.func @rope() -> (tensor<1x1x1x5xf32>, tensor<1x1x1x5xf32>) {
  %p = arith.constant dense<1> : tensor<1x1xi32>
  %x = arith.constant dense<[[[[1.0, 0.1, 0.0, 0.995004165278025766, 9.0]]]]> : tensor<1x1x1x5xf64>
  %h = fovea.rope half %x at(%p : tensor<1x1xi32>) dim(4) theta(100.0) : tensor<1x1x1x5xf64>
  %x1 = arith.constant dense<[[[[1.0, 0.0, 0.0, 1.0, 9.0]]]]> : tensor<1x1x1x5xf32>
  %i = fovea.rope interleaved %x1 at(%p : tensor<1x1xi32>) dim(4) theta(100.0) : tensor<1x1x1x5xf32>
  %h1 = call @close(%h) : (tensor<1x1x1x5xf64>) -> tensor<1x1x1x5xf32>
  return %h1, %i : tensor<1x1x1x5xf32>, tensor<1x1x1x5xf32>
}
func.func private @close(%x: tensor<1x1x1x5xf64>) -> tensor<1x1x1x5xf32> {
  // (0.1 cos a - 0.995 sin a, 0.995 cos a + 0.1 sin a) with sin a = 0.0998334: to three digits (0, 1).
  %k = arith.constant dense<1000.0> : tensor<1x1x1x5xf64>
  %keep = arith.constant dense<[[[[false, true, false, true, false]]]]> : tensor<1x1x1x5xi1>
  %a = arith.mulf %x, %k : tensor<1x1x1x5xf64>
  %b = math.round %a : tensor<1x1x1x5xf64>
  %c = arith.divf %b, %k : tensor<1x1x1x5xf64>
  %s = arith.select %keep, %c, %x : tensor<1x1x1x5xi1>, tensor<1x1x1x5xf64>
  %n = arith.truncf %s : tensor<1x1x1x5xf64> to tensor<1x1x1x5xf32>
  return %n : tensor<1x1x1x5xf32>
}

// Each batch row at its own position: 0 leaves the vector.
// CHECK-LABEL: @rope_rows
// CHECK-NEXT: 2x1x1x2 [1, 0, -0.416147, 0.909297]
func.func @rope_rows() -> tensor<2x1x1x2xf32> {
  %p = arith.constant dense<[[0], [2]]> : tensor<2x1xi32>
  %x = arith.constant dense<[[[[1.0, 0.0]]], [[[1.0, 0.0]]]]> : tensor<2x1x1x2xf32>
  %r = fovea.rope half %x at(%p : tensor<2x1xi32>) dim(2) theta(10000.0) : tensor<2x1x1x2xf32>
  return %r : tensor<2x1x1x2xf32>
}

// sin 2, cos 2, sin 0.2, cos 0.2.
// CHECK-LABEL: @sinusoidal
// CHECK-NEXT: 1x1x4 [0.909297, -0.416147, 0.198669, 0.980067]
// CHECK-NEXT: 1x1x4 [0.909297, 0.198669, -0.416147, 0.980067]
func.func @sinusoidal() -> (tensor<1x1x4xf32>, tensor<1x1x4xf32>) {
  %p = arith.constant dense<2> : tensor<1x1xi32>
  %0 = fovea.position_sinusoidal interleaved %p theta(100.0) : tensor<1x1xi32> -> tensor<1x1x4xf32>
  %1 = fovea.position_sinusoidal halves %p theta(100.0) : tensor<1x1xi32> -> tensor<1x1x4xf32>
  return %0, %1 : tensor<1x1x4xf32>, tensor<1x1x4xf32>
}

// CHECK-LABEL: @learned
// CHECK-NEXT: 1x2x2 [5, 6, 3, 4]
func.func @learned() -> tensor<1x2x2xf32> {
  %p = arith.constant dense<[[0, -1]]> : tensor<1x2xi32>
  %t = arith.constant dense<[[1.0, 2.0], [3.0, 4.0], [5.0, 6.0]]> : tensor<3x2xbf16>
  %e = fovea.position_learned %p, %t offset(2) : tensor<1x2xi32>, tensor<3x2xbf16> -> tensor<1x2x2xf32>
  return %e : tensor<1x2x2xf32>
}

// CHECK-LABEL: @alibi
// CHECK-NEXT: 4 [0.25, 0.0625, 0.015625, 0.00390625]
// CHECK-NEXT: 3 [0.0625, 0.00390625, 0.25]
func.func @alibi() -> (tensor<4xf32>, tensor<3xf32>) {
  %0 = fovea.alibi_slopes : tensor<4xf32>
  %1 = fovea.alibi_slopes : tensor<3xf32>
  return %0, %1 : tensor<4xf32>, tensor<3xf32>
}

// The table holds 10 * bucket + head. 8 buckets, up to distance 16. One-sided: exact below 4, then one more bucket where
// the distance doubles half: 4, 4 sqrt 2, 8, 8 sqrt 2. Two-sided: the upper half for later keys; exact below 2, then 2 and 3.
// CHECK-LABEL: @relative_bias
// CHECK-NEXT: 9 [1, 1, 31, 41, 41, 51, 61, 71, 71]
// CHECK-NEXT: 9 [0, 0, 51, 11, 21, 31, 61, 71, 71]
func.func @relative_bias() -> (tensor<9xf32>, tensor<9xf32>) {
  %table = arith.constant dense<[[0.0, 1.0], [10.0, 11.0], [20.0, 21.0], [30.0, 31.0], [40.0, 41.0], [50.0, 51.0], [60.0, 61.0], [70.0, 71.0]]> : tensor<8x2xf32>
  %one = arith.constant dense<[5, 0, -3, -4, -5, -6, -8, -12, -2000000000]> : tensor<9xi32>
  %two = arith.constant dense<[0, 0, 1, -1, -5, -6, 5, 6, 2000000000]> : tensor<9xi32>
  %heads = arith.constant dense<[0, 0, 1, 1, 1, 1, 1, 1, 1]> : tensor<9xi32>
  %all = arith.constant dense<1> : tensor<9xi32>
  %zero = arith.constant 0 : i32
  %init = tensor.empty() : tensor<9xf32>
  %0 = linalg.map ins(%one, %all : tensor<9xi32>, tensor<9xi32>) outs(%init : tensor<9xf32>) (%n: i32, %h: i32, %o: f32) {
    %head = arith.index_cast %h : i32 to index
    %b = fovea.relative_bias %table[%head] at(%zero, %n) {buckets = 8 : i64, max_distance = 16 : i64} : tensor<8x2xf32> -> f32
    linalg.yield %b : f32
  }
  %1 = linalg.map ins(%two, %heads : tensor<9xi32>, tensor<9xi32>) outs(%init : tensor<9xf32>) (%n: i32, %h: i32, %o: f32) {
    %head = arith.index_cast %h : i32 to index
    %b = fovea.relative_bias %table[%head] at(%zero, %n) {bidirectional, buckets = 8 : i64, max_distance = 16 : i64} : tensor<8x2xf32> -> f32
    linalg.yield %b : f32
  }
  return %0, %1 : tensor<9xf32>, tensor<9xf32>
}
