// RUN: fovea-opt %s -split-input-file -verify-diagnostics

// What fovea.attention refuses of positions, by the number of the constraint.

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
