// RUN: fovea-interpret %s | FileCheck %s

// Scores 0 and ln 3: probabilities 1/4 and 3/4.
// CHECK-LABEL: @plain
// CHECK-NEXT: 1x1x1x2 [9, 6]
func.func @plain() -> tensor<1x1x1x2xf64> {
  %q = arith.constant dense<1.0> : tensor<1x1x1x1xf64>
  %k = arith.constant dense<[[[[0.0]], [[1.09861228866810969]]]]> : tensor<1x2x1x1xf64>
  %v = arith.constant dense<[[[[0.0, 0.0]], [[12.0, 8.0]]]]> : tensor<1x2x1x2xf64>
  %o = fovea.attention %q, %k, %v : tensor<1x1x1x1xf64>, tensor<1x2x1x1xf64>, tensor<1x2x1x2xf64> -> tensor<1x1x1x2xf64>
  return %o : tensor<1x1x1x2xf64>
}

// Half of twice the score is the same.
// CHECK-LABEL: @scaled
// CHECK-NEXT: 1x1x1x2 [9, 6]
func.func @scaled() -> tensor<1x1x1x2xf64> {
  %q = arith.constant dense<2.0> : tensor<1x1x1x1xf64>
  %k = arith.constant dense<[[[[0.0]], [[1.09861228866810969]]]]> : tensor<1x2x1x1xf64>
  %v = arith.constant dense<[[[[0.0, 0.0]], [[12.0, 8.0]]]]> : tensor<1x2x1x2xf64>
  %o = fovea.attention %q, %k, %v scale(0.5) : tensor<1x1x1x1xf64>, tensor<1x2x1x1xf64>, tensor<1x2x1x2xf64> -> tensor<1x1x1x2xf64>
  return %o : tensor<1x1x1x2xf64>
}

// Query heads 0 and 1 read key head 0, heads 2 and 3 head 1; all scores are zero.
// CHECK-LABEL: @grouped_heads
// CHECK-NEXT: 1x1x4x1 [1, 1, 10, 10]
func.func @grouped_heads() -> tensor<1x1x4x1xf32> {
  %q = arith.constant dense<0.0> : tensor<1x1x4x1xf32>
  %k = arith.constant dense<1.0> : tensor<1x2x2x1xf32>
  %v = arith.constant dense<[[[[0.0], [5.0]], [[2.0], [15.0]]]]> : tensor<1x2x2x1xf32>
  %o = fovea.attention %q, %k, %v : tensor<1x1x4x1xf32>, tensor<1x2x2x1xf32>, tensor<1x2x2x1xf32> -> tensor<1x1x4x1xf32>
  return %o : tensor<1x1x4x1xf32>
}

// A sink of ln 2 beside two keys of score zero: 1/4, 1/4, and 1/2 for nobody.
// CHECK-LABEL: @sinks
// CHECK-NEXT: 1x1x1x1 [3]
// CHECK-NEXT: 1x1x1 [1.38629]
// CHECK-NEXT: 1x1x1x2 [0.25, 0.25]
func.func @sinks() -> (tensor<1x1x1x1xf64>, tensor<1x1x1xf64>, tensor<1x1x1x2xf64>) {
  %q = arith.constant dense<0.0> : tensor<1x1x1x1xf64>
  %k = arith.constant dense<1.0> : tensor<1x2x1x1xf64>
  %v = arith.constant dense<[[[[4.0]], [[8.0]]]]> : tensor<1x2x1x1xf64>
  %s = arith.constant dense<0.69314718055994531> : tensor<1xf64>
  %o, %l, %w = fovea.attention %q, %k, %v sinks(%s : tensor<1xf64>) : tensor<1x1x1x1xf64>, tensor<1x2x1x1xf64>, tensor<1x2x1x1xf64> -> tensor<1x1x1x1xf64> lse tensor<1x1x1xf64> weights tensor<1x1x1x2xf64>
  return %o, %l, %w : tensor<1x1x1x1xf64>, tensor<1x1x1xf64>, tensor<1x1x1x2xf64>
}

// tanh(0 + 0) = 0, tanh(atanh 1/2) = 1/2; times 2 ln 3: scores 0 and ln 3.
// CHECK-LABEL: @additive
// CHECK-NEXT: 1x1x1x1 [9]
func.func @additive() -> tensor<1x1x1x1xf64> {
  %q = arith.constant dense<0.0> : tensor<1x1x1x1xf64>
  %k = arith.constant dense<[[[[0.0]], [[0.54930614433405485]]]]> : tensor<1x2x1x1xf64>
  %v = arith.constant dense<[[[[0.0]], [[12.0]]]]> : tensor<1x2x1x1xf64>
  %a = arith.constant dense<2.19722457733621938> : tensor<1xf64>
  %o = fovea.attention %q, %k, %v additive(%a : tensor<1xf64>) : tensor<1x1x1x1xf64>, tensor<1x2x1x1xf64>, tensor<1x2x1x1xf64> -> tensor<1x1x1x1xf64>
  return %o : tensor<1x1x1x1xf64>
}

// The bias is given for (j, h): key 1 gets ln 3 in head 0, key 0 in head 1.
// CHECK-LABEL: @score_operand_map
// CHECK-NEXT: 1x1x2x1 [9, 3]
func.func @score_operand_map() -> tensor<1x1x2x1xf64> {
  %q = arith.constant dense<0.0> : tensor<1x1x2x1xf64>
  %k = arith.constant dense<1.0> : tensor<1x2x1x1xf64>
  %v = arith.constant dense<[[[[0.0]], [[12.0]]]]> : tensor<1x2x1x1xf64>
  %bias = arith.constant dense<[[0.0, 1.09861228866810969], [1.09861228866810969, 0.0]]> : tensor<2x2xf64>
  %o = fovea.attention %q, %k, %v score(%bias : tensor<2x2xf64> by (b, h, i, j) -> (j, h)) {
    ^bb0(%x: f64, %bv: f64, %b: index, %h: index, %qp: i32, %kp: i32):
      %y = arith.addf %x, %bv : f64
      fovea.yield %y : f64
  } : tensor<1x1x2x1xf64>, tensor<1x2x1x1xf64>, tensor<1x2x1x1xf64> -> tensor<1x1x2x1xf64>
  return %o : tensor<1x1x2x1xf64>
}

// The table is handed over whole and read at the key's position, which is 5 for place 0 and 3 for place 1.
// CHECK-LABEL: @score_gather_and_positions
// CHECK-NEXT: 1x1x1x1 [9]
func.func @score_gather_and_positions() -> tensor<1x1x1x1xf64> {
  %q = arith.constant dense<0.0> : tensor<1x1x1x1xf64>
  %k = arith.constant dense<1.0> : tensor<1x2x1x1xf64>
  %v = arith.constant dense<[[[[0.0]], [[12.0]]]]> : tensor<1x2x1x1xf64>
  %t = arith.constant dense<[7.0, 7.0, 7.0, 1.09861228866810969, 7.0, 0.0]> : tensor<6xf64>
  %kp = arith.constant dense<[[5, 3]]> : tensor<1x2xi32>
  %o = fovea.attention %q, %k, %v k_pos(%kp : tensor<1x2xi32>) score(%t : tensor<6xf64> by (b, h, i, j) -> ()) {
    ^bb0(%x: f64, %tt: tensor<6xf64>, %b: index, %h: index, %qi: i32, %ki: i32):
      %at = arith.index_cast %ki : i32 to index
      %e = tensor.extract %tt[%at] : tensor<6xf64>
      %y = arith.addf %x, %e : f64
      fovea.yield %y : f64
  } : tensor<1x1x1x1xf64>, tensor<1x2x1x1xf64>, tensor<1x2x1x1xf64> -> tensor<1x1x1x1xf64>
  return %o : tensor<1x1x1x1xf64>
}

// Two queries; with positions 1 and 0 the second sees one key only.
// CHECK-LABEL: @positions_of_queries
// CHECK-NEXT: 1x2x1x1 [3, 2]
func.func @positions_of_queries() -> tensor<1x2x1x1xf32> {
  %q = arith.constant dense<0.0> : tensor<1x2x1x1xf32>
  %k = arith.constant dense<1.0> : tensor<1x2x1x1xf32>
  %v = arith.constant dense<[[[[2.0]], [[4.0]]]]> : tensor<1x2x1x1xf32>
  %qp = arith.constant dense<[[1, 0]]> : tensor<1x2xi32>
  %m = fovea.mask_causal
  %o = fovea.attention %q, %k, %v q_pos(%qp : tensor<1x2xi32>) mask(%m) : tensor<1x2x1x1xf32>, tensor<1x2x1x1xf32>, tensor<1x2x1x1xf32> -> tensor<1x2x1x1xf32>
  return %o : tensor<1x2x1x1xf32>
}

// Rounded to bf16: 1 + 2^-9 is 1.
// CHECK-LABEL: @narrow_result
// CHECK-NEXT: 1x1x1x1 [1]
func.func @narrow_result() -> tensor<1x1x1x1xbf16> {
  %q = arith.constant dense<0.0> : tensor<1x1x1x1xbf16>
  %k = arith.constant dense<0.0> : tensor<1x2x1x1xbf16>
  %v = arith.constant dense<[[[[1.0]], [[1.0078125]]]]> : tensor<1x2x1x1xbf16>
  %o = fovea.attention %q, %k, %v : tensor<1x1x1x1xbf16>, tensor<1x2x1x1xbf16>, tensor<1x2x1x1xbf16> -> tensor<1x1x1x1xbf16>
  return %o : tensor<1x1x1x1xbf16>
}

// CHECK-LABEL: @cache
// CHECK-NEXT: 1x1x1x1 [3]
// CHECK-NEXT: 2
// CHECK-NEXT: cache of 2 [2, 4]
func.func @cache() -> (tensor<1x1x1x1xf32>, index, !fovea.cache<value, 1x1xf32>) {
  %one = arith.constant 1 : index
  %eight = arith.constant 8 : index
  %q = arith.constant dense<0.0> : tensor<1x1x1x1xf32>
  %k = arith.constant dense<1.0> : tensor<1x1x1x1xf32>
  %v0 = arith.constant dense<2.0> : tensor<1x1x1x1xf32>
  %v1 = arith.constant dense<4.0> : tensor<1x1x1x1xf32>
  %ck = fovea.cache_create %one, %eight : !fovea.cache<key, 1x1xf32>
  %cv = fovea.cache_create %one, %eight : !fovea.cache<value, 1x1xf32>
  %ck1 = fovea.cache_append %ck, %k : !fovea.cache<key, 1x1xf32>, tensor<1x1x1x1xf32>
  %cv1 = fovea.cache_append %cv, %v0 : !fovea.cache<value, 1x1xf32>, tensor<1x1x1x1xf32>
  %ck2 = fovea.cache_append %ck1, %k : !fovea.cache<key, 1x1xf32>, tensor<1x1x1x1xf32>
  %cv2 = fovea.cache_append %cv1, %v1 : !fovea.cache<value, 1x1xf32>, tensor<1x1x1x1xf32>
  %o = fovea.attention %q, %ck2, %cv2 : tensor<1x1x1x1xf32>, !fovea.cache<key, 1x1xf32>, !fovea.cache<value, 1x1xf32> -> tensor<1x1x1x1xf32>
  %n = fovea.cache_length %ck2 : !fovea.cache<key, 1x1xf32>
  return %o, %n, %cv2 : tensor<1x1x1x1xf32>, index, !fovea.cache<value, 1x1xf32>
}

// Probabilities 1/4 and 3/4: the first is below the threshold, the second is multiplied with 2 for key 1, and what is
// asked for as weights are the probabilities themselves.
// CHECK-LABEL: @probability
// CHECK-NEXT: 1x1x1x1 [18]
// CHECK-NEXT: 1x1x1x2 [0.25, 0.75]
func.func @probability() -> (tensor<1x1x1x1xf64>, tensor<1x1x1x2xf64>) {
  %q = arith.constant dense<1.0> : tensor<1x1x1x1xf64>
  %k = arith.constant dense<[[[[0.0]], [[1.09861228866810969]]]]> : tensor<1x2x1x1xf64>
  %v = arith.constant dense<[[[[8.0]], [[12.0]]]]> : tensor<1x2x1x1xf64>
  %gain = arith.constant dense<[4.0, 2.0]> : tensor<2xf64>
  %o, %w = fovea.attention %q, %k, %v probability(%gain : tensor<2xf64> by (b, h, i, j) -> (j)) {
    ^bb0(%p: f64, %g: f64, %b: index, %h: index, %qp: i32, %kp: i32):
      %least = arith.constant 0.3 : f64
      %none = arith.constant 0.0 : f64
      %c = arith.cmpf olt, %p, %least : f64
      %kept = arith.select %c, %none, %p : f64
      %y = arith.mulf %kept, %g : f64
      fovea.yield %y : f64
  } : tensor<1x1x1x1xf64>, tensor<1x2x1x1xf64>, tensor<1x2x1x1xf64> -> tensor<1x1x1x1xf64> weights tensor<1x1x1x2xf64>
  return %o, %w : tensor<1x1x1x1xf64>, tensor<1x1x1x2xf64>
}

// Half of each: a forbidden key has no weight though the region gives one for a probability of zero, but the mean of an
// empty row is of all keys.
// CHECK-LABEL: @probability_of_mask
// CHECK-NEXT: 1x2x1x1 [4.5, 9]
func.func @probability_of_mask() -> tensor<1x2x1x1xf64> {
  %q = arith.constant dense<0.0> : tensor<1x2x1x1xf64>
  %k = arith.constant dense<0.0> : tensor<1x2x1x1xf64>
  %v = arith.constant dense<[[[[3.0]], [[6.0]]]]> : tensor<1x2x1x1xf64>
  %keep = arith.constant dense<[[[[true, false], [false, false]]]]> : tensor<1x1x2x2xi1>
  %m = fovea.mask_dense %keep : tensor<1x1x2x2xi1>
  %o = fovea.attention %q, %k, %v mask(%m) fill(mean) probability {
    ^bb0(%p: f64, %b: index, %h: index, %qp: i32, %kp: i32):
      %half = arith.constant 0.5 : f64
      %y = arith.addf %p, %half : f64
      fovea.yield %y : f64
  } : tensor<1x2x1x1xf64>, tensor<1x2x1x1xf64>, tensor<1x2x1x1xf64> -> tensor<1x2x1x1xf64>
  return %o : tensor<1x2x1x1xf64>
}
