// RUN: fovea-opt %s -split-input-file -verify-diagnostics

// What fovea.attention refuses of ranks, heads and caches, by the number of the constraint.

func.func @attention_c1_rank(%q: tensor<?x8x64xf32>, %k: tensor<?x?x2x64xf32>) {
  // expected-error @below {{operand #0 must be 4D tensor of}}
  "fovea.attention"(%q, %k, %k) <{operandSegmentSizes = array<i32: 1, 1, 1, 0, 0, 0, 0, 0, 0, 0, 0, 0>, resultSegmentSizes = array<i32: 1, 0, 0>}> ({}, {}) : (tensor<?x8x64xf32>, tensor<?x?x2x64xf32>, tensor<?x?x2x64xf32>) -> tensor<?x?x8x64xf32>
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
