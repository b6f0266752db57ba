// RUN: fovea-interpret %s | FileCheck %s

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
