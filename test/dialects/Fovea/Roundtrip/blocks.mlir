// RUN: fovea-opt %s | fovea-opt | FileCheck %s

// Weights as GGUF stores them, in files and in panels.

// CHECK: fovea.weight @blocks : tensor<64x512x!fovea.blocks<q4_k>> = #fovea.stored<"m.gguf", "w", tensor<64x512x!fovea.blocks<q4_k>>>
fovea.weight @blocks : tensor<64x512x!fovea.blocks<q4_k>> = #fovea.stored<"m.gguf", "w", tensor<64x512x!fovea.blocks<q4_k>>>

// Rows are joined, taken apart and seen as a matrix.
// CHECK: fovea.weight @rows : tensor<20x64x!fovea.blocks<mxfp4>> = #fovea.concat<0, #fovea.slice<
fovea.weight @rows : tensor<20x64x!fovea.blocks<mxfp4>> = #fovea.concat<0, #fovea.slice<#fovea.stored<"m.gguf", "a", tensor<16x64x!fovea.blocks<mxfp4>>>, 0 from 4 count 8>, #fovea.reshape<#fovea.stored<"m.gguf", "b", tensor<2x6x64x!fovea.blocks<mxfp4>>>, [12, 64]>>

// Their numbers as floats.
// CHECK: fovea.weight @floats : tensor<64x512xbf16> = #fovea.cast<#fovea.stored<
fovea.weight @floats : tensor<64x512xbf16> = #fovea.cast<#fovea.stored<"m.gguf", "w", tensor<64x512x!fovea.blocks<q6_k>>>, bf16>

// CHECK: fovea.weight @packed : tensor<64x512x!fovea.blocks<q8_0>, #fovea.panels<16, interleave = 4>> = #fovea.pack<
fovea.weight @packed : tensor<64x512x!fovea.blocks<q8_0>, #fovea.panels<16, interleave = 4>> = #fovea.pack<#fovea.stored<"m.gguf", "w", tensor<64x512x!fovea.blocks<q8_0>>>, #fovea.panels<16, interleave = 4>>

// CHECK-LABEL: func.func @read
func.func @read(%ids: tensor<?x?xi64>, %x: tensor<?x?x512xf32>) -> (tensor<?x?x512xf32>, tensor<?x?x64xf32>) {
  %w = fovea.weight_ref @blocks : tensor<64x512x!fovea.blocks<q4_k>>
  // CHECK: fovea.embedding %{{.*}}, %[[W:.*]] : tensor<?x?xi64>, tensor<64x512x!fovea.blocks<q4_k>> -> tensor<?x?x512xf32>
  %e = fovea.embedding %ids, %w : tensor<?x?xi64>, tensor<64x512x!fovea.blocks<q4_k>> -> tensor<?x?x512xf32>
  // CHECK: fovea.linear %{{.*}}, %[[W]] quantize_rows : tensor<?x?x512xf32>, tensor<64x512x!fovea.blocks<q4_k>> -> tensor<?x?x64xf32>
  %y = fovea.linear %x, %w quantize_rows : tensor<?x?x512xf32>, tensor<64x512x!fovea.blocks<q4_k>> -> tensor<?x?x64xf32>
  return %e, %y : tensor<?x?x512xf32>, tensor<?x?x64xf32>
}
