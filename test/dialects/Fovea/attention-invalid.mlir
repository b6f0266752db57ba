// RUN: fovea-opt %s -split-input-file -verify-diagnostics

func.func @attention_c1_rank(%q: tensor<?x8x64xf32>, %k: tensor<?x?x2x64xf32>) {
  // expected-error @below {{operand #0 must be 4D tensor of}}
  "fovea.attention"(%q, %k, %k) <{operandSegmentSizes = array<i32: 1, 1, 1, 0, 0, 0, 0, 0, 0, 0>, resultSegmentSizes = array<i32: 1, 0, 0>}> ({}, {}) : (tensor<?x8x64xf32>, tensor<?x?x2x64xf32>, tensor<?x?x2x64xf32>) -> tensor<?x?x8x64xf32>
  return
}

// -----

func.func @attention_c1_dynamic_heads(%q: tensor<?x?x?x64xf32>, %k: tensor<?x?x2x64xf32>) {
  // expected-error @below {{expects positive static heads and head size of the query, got 'tensor<?x?x?x64xf32>'}}
  %o = fovea.attention %q, %k, %k : tensor<?x?x?x64xf32>, tensor<?x?x2x64xf32>, tensor<?x?x2x64xf32> -> tensor<?x?x?x64xf32>
  return
}

// -----

func.func @attention_c1_zero_head_size(%q: tensor<?x?x2x0xf32>, %v: tensor<?x?x2x4xf32>) {
  // expected-error @below {{expects positive static heads and head size of the query, got 'tensor<?x?x2x0xf32>'}}
  %o = fovea.attention %q, %q, %v : tensor<?x?x2x0xf32>, tensor<?x?x2x0xf32>, tensor<?x?x2x4xf32> -> tensor<?x?x2x4xf32>
  return
}

// -----

func.func @attention_c1_zero_key_heads(%q: tensor<?x?x8x64xf32>, %k: tensor<?x?x0x64xf32>) {
  // expected-error @below {{expects positive static heads and head size of the key}}
  %o = fovea.attention %q, %k, %k : tensor<?x?x8x64xf32>, tensor<?x?x0x64xf32>, tensor<?x?x0x64xf32> -> tensor<?x?x8x64xf32>
  return
}

// -----

func.func @attention_c1_one_cache(%q: tensor<?x?x8x64xf32>, %k: !fovea.cache<key, 2x64xf32>, %v: tensor<?x?x2x64xf32>) {
  // expected-error @below {{expects key and value both tensors or both caches, got '!fovea.cache<key, 2x64xf32>' and 'tensor<?x?x2x64xf32>'}}
  %o = fovea.attention %q, %k, %v : tensor<?x?x8x64xf32>, !fovea.cache<key, 2x64xf32>, tensor<?x?x2x64xf32> -> tensor<?x?x8x64xf32>
  return
}

// -----

func.func @attention_c1_caches_exchanged(%q: tensor<?x?x8x64xf32>, %k: !fovea.cache<key, 2x64xf32>, %v: !fovea.cache<value, 2x64xf32>) {
  // expected-error @below {{expects a key cache and a value cache, got value and key}}
  %o = fovea.attention %q, %v, %k : tensor<?x?x8x64xf32>, !fovea.cache<value, 2x64xf32>, !fovea.cache<key, 2x64xf32> -> tensor<?x?x8x64xf32>
  return
}

// -----

func.func @attention_c2_groups(%q: tensor<?x?x8x64xf32>, %k: tensor<?x?x3x64xf32>) {
  // expected-error @below {{expects the number of query heads to be a multiple of the key heads, got 8 and 3}}
  %o = fovea.attention %q, %k, %k : tensor<?x?x8x64xf32>, tensor<?x?x3x64xf32>, tensor<?x?x3x64xf32> -> tensor<?x?x8x64xf32>
  return
}

// -----

func.func @attention_c2_value_heads(%q: tensor<?x?x8x64xf32>, %k: tensor<?x?x2x64xf32>, %v: tensor<?x?x4x64xf32>) {
  // expected-error @below {{expects as many value heads as key heads, got 4 and 2}}
  %o = fovea.attention %q, %k, %v : tensor<?x?x8x64xf32>, tensor<?x?x2x64xf32>, tensor<?x?x4x64xf32> -> tensor<?x?x8x64xf32>
  return
}

// -----

func.func @attention_c3(%q: tensor<?x?x8x64xf32>, %k: tensor<?x?x2x48xf32>) {
  // expected-error @below {{expects query and key head sizes to agree, got 64 and 48}}
  %o = fovea.attention %q, %k, %k : tensor<?x?x8x64xf32>, tensor<?x?x2x48xf32>, tensor<?x?x2x48xf32> -> tensor<?x?x8x48xf32>
  return
}

// -----

func.func @attention_c4_lengths(%q: tensor<?x?x8x64xf32>, %k: tensor<?x5x2x64xf32>, %v: tensor<?x6x2x64xf32>) {
  // expected-error @below {{expects key and value lengths to agree, got 5 and 6}}
  %o = fovea.attention %q, %k, %v : tensor<?x?x8x64xf32>, tensor<?x5x2x64xf32>, tensor<?x6x2x64xf32> -> tensor<?x?x8x64xf32>
  return
}

// -----

func.func @attention_c4_batches(%q: tensor<?x?x8x64xf32>, %k: tensor<2x?x2x64xf32>, %v: tensor<3x?x2x64xf32>) {
  // expected-error @below {{expects one batch size, got }}
  %o = fovea.attention %q, %k, %v : tensor<?x?x8x64xf32>, tensor<2x?x2x64xf32>, tensor<3x?x2x64xf32> -> tensor<?x?x8x64xf32>
  return
}

// -----

func.func @attention_c5_value_size(%q: tensor<?x?x8x64xf32>, %k: tensor<?x?x2x64xf32>, %v: tensor<?x?x2x48xf32>) {
  // expected-error @below {{expects a result like 'tensor<?x?x8x48xf32>', got 'tensor<?x?x8x64xf32>'}}
  %o = fovea.attention %q, %k, %v : tensor<?x?x8x64xf32>, tensor<?x?x2x64xf32>, tensor<?x?x2x48xf32> -> tensor<?x?x8x64xf32>
  return
}

// -----

func.func @attention_c5_element_type(%q: tensor<?x?x8x64xbf16>, %k: tensor<?x?x2x64xbf16>) {
  // expected-error @below {{expects a result like 'tensor<?x?x8x64xbf16>', got 'tensor<?x?x8x64xf32>'}}
  %o = fovea.attention %q, %k, %k : tensor<?x?x8x64xbf16>, tensor<?x?x2x64xbf16>, tensor<?x?x2x64xbf16> -> tensor<?x?x8x64xf32>
  return
}

// -----

func.func @attention_c6_query_batch(%q: tensor<4x?x8x64xf32>, %k: tensor<4x?x2x64xf32>, %p: tensor<2x?xi32>) {
  // expected-error @below {{expects query positions for a batch of 1 or 4, got 2}}
  %o = fovea.attention %q, %k, %k q_pos(%p : tensor<2x?xi32>) : tensor<4x?x8x64xf32>, tensor<4x?x2x64xf32>, tensor<4x?x2x64xf32> -> tensor<4x?x8x64xf32>
  return
}

// -----

func.func @attention_c6_key_length(%q: tensor<?x?x8x64xf32>, %k: tensor<?x5x2x64xf32>, %p: tensor<1x6xi32>) {
  // expected-error @below {{expects key positions of length 5, got 6}}
  %o = fovea.attention %q, %k, %k k_pos(%p : tensor<1x6xi32>) : tensor<?x?x8x64xf32>, tensor<?x5x2x64xf32>, tensor<?x5x2x64xf32> -> tensor<?x?x8x64xf32>
  return
}

// -----

func.func @attention_c7_arguments(%q: tensor<?x?x8x64xf32>, %k: tensor<?x?x2x64xf32>) {
  // expected-error @below {{expects score arguments of types 'f32', 'index', 'index', 'i32', 'i32', got 'f32', 'index'}}
  %o = fovea.attention %q, %k, %k score {
    ^bb0(%x: f32, %b: index):
      fovea.yield %x : f32
  } : tensor<?x?x8x64xf32>, tensor<?x?x2x64xf32>, tensor<?x?x2x64xf32> -> tensor<?x?x8x64xf32>
  return
}

// -----

func.func @attention_c7_accumulation_type(%q: tensor<?x?x8x64xf64>, %k: tensor<?x?x2x64xf64>) {
  // expected-error @below {{expects score arguments of types 'f64', 'index', 'index', 'i32', 'i32', got 'f32'}}
  %o = fovea.attention %q, %k, %k score {
    ^bb0(%x: f32, %b: index, %h: index, %i: i32, %j: i32):
      fovea.yield %x : f32
  } : tensor<?x?x8x64xf64>, tensor<?x?x2x64xf64>, tensor<?x?x2x64xf64> -> tensor<?x?x8x64xf64>
  return
}

// -----

func.func @attention_c7_yield(%q: tensor<?x?x8x64xf32>, %k: tensor<?x?x2x64xf32>) {
  // expected-error @below {{expects the score region to yield one 'f32'}}
  %o = fovea.attention %q, %k, %k score {
    ^bb0(%x: f32, %b: index, %h: index, %i: i32, %j: i32):
      fovea.yield %i : i32
  } : tensor<?x?x8x64xf32>, tensor<?x?x2x64xf32>, tensor<?x?x2x64xf32> -> tensor<?x?x8x64xf32>
  return
}

// -----

// The region is looked at only when its own structure is known to be right.
func.func @attention_c7_empty_block(%q: tensor<?x?x8x64xf32>, %k: tensor<?x?x2x64xf32>) {
  // expected-error @below {{empty block: expect at least a terminator}}
  %o = fovea.attention %q, %k, %k score {
    ^bb0(%x: f32, %b: index, %h: index, %i: i32, %j: i32):
  } : tensor<?x?x8x64xf32>, tensor<?x?x2x64xf32>, tensor<?x?x2x64xf32> -> tensor<?x?x8x64xf32>
  return
}

// -----

func.func @attention_c7_effects(%q: tensor<?x?x8x64xf32>, %k: tensor<?x?x2x64xf32>) {
  // expected-error @below {{expects pure ops in the score region, got 'memref.alloc'}}
  %o = fovea.attention %q, %k, %k score {
    ^bb0(%x: f32, %b: index, %h: index, %i: i32, %j: i32):
      %m = memref.alloc() : memref<f32>
      fovea.yield %x : f32
  } : tensor<?x?x8x64xf32>, tensor<?x?x2x64xf32>, tensor<?x?x2x64xf32> -> tensor<?x?x8x64xf32>
  return
}

// -----

func.func @attention_c8_no_region(%q: tensor<?x?x8x64xf32>, %k: tensor<?x?x2x64xf32>, %s: tensor<8xf32>) {
  // expected-error @below {{expects a score region for its 1 score operands, got none}}
  %o = "fovea.attention"(%q, %k, %k, %s) <{operandSegmentSizes = array<i32: 1, 1, 1, 0, 0, 0, 0, 0, 1, 0>, resultSegmentSizes = array<i32: 1, 0, 0>, score_maps = [affine_map<(b, h, i, j) -> (h)>]}> ({}, {})
      : (tensor<?x?x8x64xf32>, tensor<?x?x2x64xf32>, tensor<?x?x2x64xf32>, tensor<8xf32>) -> tensor<?x?x8x64xf32>
  return
}

// -----

func.func @attention_c8_maps(%q: tensor<?x?x8x64xf32>, %k: tensor<?x?x2x64xf32>, %s: tensor<8xf32>) {
  // expected-error @below {{expects one indexing map for each score operand, got 0 for 1}}
  %o = "fovea.attention"(%q, %k, %k, %s) <{operandSegmentSizes = array<i32: 1, 1, 1, 0, 0, 0, 0, 0, 1, 0>, resultSegmentSizes = array<i32: 1, 0, 0>, score_maps = []}> ({
    ^bb0(%x: f32, %e: f32, %b: index, %h: index, %i: i32, %j: i32):
      fovea.yield %x : f32
  }, {}) : (tensor<?x?x8x64xf32>, tensor<?x?x2x64xf32>, tensor<?x?x2x64xf32>, tensor<8xf32>) -> tensor<?x?x8x64xf32>
  return
}

// -----

func.func @attention_c8_results(%q: tensor<?x?x8x64xf32>, %k: tensor<?x?x2x64xf32>, %s: tensor<8x?xf32>) {
  // expected-error @below {{expects the map of score operand 0 to take (b, h, i, j) to 2 distinct dimensions or to none, got affine_map<(d0, d1, d2, d3) -> (d1)>}}
  %o = fovea.attention %q, %k, %k score(%s : tensor<8x?xf32> by (b, h, i, j) -> (h)) {
    ^bb0(%x: f32, %e: f32, %b: index, %h: index, %i: i32, %j: i32):
      fovea.yield %x : f32
  } : tensor<?x?x8x64xf32>, tensor<?x?x2x64xf32>, tensor<?x?x2x64xf32> -> tensor<?x?x8x64xf32>
  return
}

// -----

func.func @attention_c8_distinct(%q: tensor<?x?x8x64xf32>, %k: tensor<?x?x2x64xf32>, %s: tensor<8x8xf32>) {
  // expected-error @below {{expects the map of score operand 0 to take (b, h, i, j) to 2 distinct dimensions}}
  %o = fovea.attention %q, %k, %k score(%s : tensor<8x8xf32> by (b, h, i, j) -> (h, h)) {
    ^bb0(%x: f32, %e: f32, %b: index, %h: index, %i: i32, %j: i32):
      fovea.yield %x : f32
  } : tensor<?x?x8x64xf32>, tensor<?x?x2x64xf32>, tensor<?x?x2x64xf32> -> tensor<?x?x8x64xf32>
  return
}

// -----

func.func @attention_c8_sizes(%q: tensor<?x?x8x64xf32>, %k: tensor<?x5x2x64xf32>, %s: tensor<8x6xf32>) {
  // expected-error @below {{expects axis 1 of score operand 0 to have size 5, got 'tensor<8x6xf32>'}}
  %o = fovea.attention %q, %k, %k score(%s : tensor<8x6xf32> by (b, h, i, j) -> (h, j)) {
    ^bb0(%x: f32, %e: f32, %b: index, %h: index, %i: i32, %j: i32):
      fovea.yield %x : f32
  } : tensor<?x?x8x64xf32>, tensor<?x5x2x64xf32>, tensor<?x5x2x64xf32> -> tensor<?x?x8x64xf32>
  return
}

// -----

func.func @attention_c9(%q: tensor<?x?x8x64xf32>, %k: tensor<?x?x2x64xf32>, %s: tensor<2xf32>) {
  // expected-error @below {{expects one sink for each of 8 heads, got 'tensor<2xf32>'}}
  %o = fovea.attention %q, %k, %k sinks(%s : tensor<2xf32>) : tensor<?x?x8x64xf32>, tensor<?x?x2x64xf32>, tensor<?x?x2x64xf32> -> tensor<?x?x8x64xf32>
  return
}

// -----

func.func @attention_c10(%q: tensor<?x?x8x64xf32>, %k: tensor<?x?x2x64xf32>, %w: tensor<32xf32>) {
  // expected-error @below {{expects additive weights for head size 64, got 'tensor<32xf32>'}}
  %o = fovea.attention %q, %k, %k additive(%w : tensor<32xf32>) : tensor<?x?x8x64xf32>, tensor<?x?x2x64xf32>, tensor<?x?x2x64xf32> -> tensor<?x?x8x64xf32>
  return
}

// -----

func.func @attention_c11_lse(%q: tensor<?x?x8x64xf32>, %k: tensor<?x?x2x64xf32>) {
  // expected-error @below {{expects lse like 'tensor<?x8x?xf32>', got 'tensor<?x8x?xf64>'}}
  %o, %l = fovea.attention %q, %k, %k : tensor<?x?x8x64xf32>, tensor<?x?x2x64xf32>, tensor<?x?x2x64xf32> -> tensor<?x?x8x64xf32> lse tensor<?x8x?xf64>
  return
}

// -----

func.func @attention_c11_weights(%q: tensor<?x3x8x64xf32>, %k: tensor<?x5x2x64xf32>) {
  // expected-error @below {{expects weights like 'tensor<?x8x3x5xf32>', got 'tensor<?x8x5x3xf32>'}}
  %o, %w = fovea.attention %q, %k, %k : tensor<?x3x8x64xf32>, tensor<?x5x2x64xf32>, tensor<?x5x2x64xf32> -> tensor<?x3x8x64xf32> weights tensor<?x8x5x3xf32>
  return
}

// -----

func.func @attention_c12(%q: tensor<?x3x8x64xf32>, %k: tensor<?x5x2x64xf32>, %d: tensor<5x3xi1>) {
  %c = fovea.mask_causal
  %m = fovea.mask_dense %d : tensor<5x3xi1>
  %n = fovea.mask_not %m
  %a = fovea.mask_and(%c, %n)
  // expected-error @below {{expects the mask's 'fovea.mask_dense' to take 'tensor<3x5xi1>', got 'tensor<5x3xi1>'}}
  %o = fovea.attention %q, %k, %k mask(%a) : tensor<?x3x8x64xf32>, tensor<?x5x2x64xf32>, tensor<?x5x2x64xf32> -> tensor<?x3x8x64xf32>
  return
}

// -----

func.func @alibi_slopes_c1() {
  // expected-error @below {{expects a static number of heads}}
  %s = fovea.alibi_slopes : tensor<?xf32>
  return
}

// -----

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

// -----

func.func @attention_c7_probability_yields(%q: tensor<?x?x8x64xf16>, %k: tensor<?x?x2x64xf16>) {
  // expected-error @below {{expects the probability region to yield one 'f32'}}
  %o = fovea.attention %q, %k, %k probability {
    ^bb0(%p: f32, %b: index, %h: index, %qp: i32, %kp: i32):
      fovea.yield %b : index
  } : tensor<?x?x8x64xf16>, tensor<?x?x2x64xf16>, tensor<?x?x2x64xf16> -> tensor<?x?x8x64xf16>
  return
}

// -----

func.func @attention_c7_probability_arguments(%q: tensor<?x?x8x64xf16>, %k: tensor<?x?x2x64xf16>, %d: tensor<8xf16>) {
  // expected-error @below {{expects probability arguments of types 'f32', 'f16', 'index', 'index', 'i32', 'i32', got 'f32', 'index', 'index', 'i32', 'i32'}}
  %o = fovea.attention %q, %k, %k probability(%d : tensor<8xf16> by (b, h, i, j) -> (h)) {
    ^bb0(%p: f32, %b: index, %h: index, %qp: i32, %kp: i32):
      fovea.yield %p : f32
  } : tensor<?x?x8x64xf16>, tensor<?x?x2x64xf16>, tensor<?x?x2x64xf16> -> tensor<?x?x8x64xf16>
  return
}

// -----

func.func @attention_c8_probability_operand(%q: tensor<?x?x8x64xf32>, %k: tensor<?x?x2x64xf32>, %d: tensor<7x?xf32>) {
  // expected-error @below {{expects axis 0 of probability operand 0 to have size 8, got 'tensor<7x?xf32>'}}
  %o = fovea.attention %q, %k, %k probability(%d : tensor<7x?xf32> by (b, h, i, j) -> (h, j)) {
    ^bb0(%p: f32, %e: f32, %b: index, %h: index, %qp: i32, %kp: i32):
      fovea.yield %p : f32
  } : tensor<?x?x8x64xf32>, tensor<?x?x2x64xf32>, tensor<?x?x2x64xf32> -> tensor<?x?x8x64xf32>
  return
}
