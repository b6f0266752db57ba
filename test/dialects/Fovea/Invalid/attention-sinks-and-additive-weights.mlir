// RUN: fovea-opt %s -split-input-file -verify-diagnostics

// What fovea.attention refuses of sinks and of additive weights, by the number of the constraint.

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
