// RUN: fovea-opt %s -split-input-file -verify-diagnostics

// expected-error @below {{expects whole blocks of 256 in each row of a stored tensor, got 'tensor<8x288x!fovea.blocks<q4_k>>'}}
fovea.weight @stored_c2 : tensor<8x288x!fovea.blocks<q4_k>> = #fovea.stored<"a", "w", tensor<8x288x!fovea.blocks<q4_k>>>

// -----

// expected-error @below {{expects steps around blocks that keep rows whole, got}}
fovea.weight @columns : tensor<8x32x!fovea.blocks<q8_0>> = #fovea.slice<#fovea.stored<"a", "w", tensor<8x64x!fovea.blocks<q8_0>>>, 1 from 0 count 32>

// -----

// expected-error @below {{expects steps around blocks that keep rows whole, got}}
fovea.weight @turned : tensor<64x8x!fovea.blocks<q8_0>> = #fovea.transpose<#fovea.stored<"a", "w", tensor<8x64x!fovea.blocks<q8_0>>>>

// -----

// expected-error @below {{expects rows of blocks to stay as they are, got 'tensor<8x64x!fovea.blocks<q8_0>>'}}
fovea.weight @reshape_c2 : tensor<16x32x!fovea.blocks<q8_0>> = #fovea.reshape<#fovea.stored<"a", "w", tensor<8x64x!fovea.blocks<q8_0>>>, [16, 32]>

// -----

// expected-error @below {{expects panels of blocks to be 16 wide, to interleave 4 and to hold whole blocks, got 'tensor<8x64x!fovea.blocks<q8_0>>'}}
fovea.weight @panels_c3 : tensor<8x64x!fovea.blocks<q8_0>, #fovea.panels<32, interleave = 4>> = #fovea.pack<#fovea.stored<"a", "w", tensor<8x64x!fovea.blocks<q8_0>>>, #fovea.panels<32, interleave = 4>>

// -----

func.func @linear_c6(%x: tensor<?x96xf32>, %w: tensor<8x96x!fovea.blocks<q2_k>>) -> tensor<?x8xf32> {
  // expected-error @below {{expects whole blocks of 256 inputs in each row, got 'tensor<8x96x!fovea.blocks<q2_k>>'}}
  %y = fovea.linear %x, %w : tensor<?x96xf32>, tensor<8x96x!fovea.blocks<q2_k>> -> tensor<?x8xf32>
  return %y : tensor<?x8xf32>
}

// -----

func.func @linear_c4(%x: tensor<?x64xf32>, %w: tensor<8x64x!fovea.blocks<q4_0>>, %s: tensor<8x2xf16>) -> tensor<?x8xf32> {
  // expected-error @below {{expects no scales beside a weight of blocks, got 'tensor<8x64x!fovea.blocks<q4_0>>'}}
  %y = fovea.linear %x, %w scales(%s : tensor<8x2xf16>) : tensor<?x64xf32>, tensor<8x64x!fovea.blocks<q4_0>> -> tensor<?x8xf32>
  return %y : tensor<?x8xf32>
}

// -----

func.func @embedding_c2(%ids: tensor<?xi64>, %w: tensor<8x64x!fovea.blocks<q4_0>>) -> tensor<?x64xbf16> {
  // expected-error @below {{expects a result of f32 for a table of integers or blocks, got 'tensor<?x64xbf16>'}}
  %y = fovea.embedding %ids, %w : tensor<?xi64>, tensor<8x64x!fovea.blocks<q4_0>> -> tensor<?x64xbf16>
  return %y : tensor<?x64xbf16>
}
