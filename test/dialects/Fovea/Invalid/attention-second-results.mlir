// RUN: fovea-opt %s -split-input-file -verify-diagnostics

// What fovea.attention refuses of lse and weights as results, by the number of the constraint.

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
