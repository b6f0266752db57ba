// RUN: fovea-opt %s -split-input-file -verify-diagnostics

// What fovea.attention refuses of heads, head sizes, lengths and results, by the number of the constraint.

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
