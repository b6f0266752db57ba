// RUN: fovea-opt %s --verify-roundtrip

fovea.model "llama" in "models/tiny" {tokenizer = "tokenizer.json", begin_token = 0 : i64, end_tokens = array<i64: 1>, max_positions = 512 : i64}
fovea.weight @q : tensor<4x8xbf16> = #fovea.stored<"model.safetensors", "q", tensor<4x8xbf16>>
fovea.weight @all : tensor<12x8xf32> = #fovea.pack<#fovea.concat<0, #fovea.cast<#fovea.stored<"a", "q", tensor<4x8xbf16>>, f32>, #fovea.transpose<#fovea.stored<"a", "k", tensor<8x8xf32>>>>>
fovea.weight @moved : tensor<2x12xf32> = #fovea.reshape<#fovea.permute<#fovea.slice<#fovea.stored<"a", "w", tensor<2x4x8xf32>>, 2 from 5 count 3>, [2, 0, 1]>, [2, 12]>
fovea.weight @scalar : tensor<f32> = #fovea.reshape<#fovea.stored<"a", "w", tensor<1xf32>>, []>
fovea.weight @folded : tensor<4x8xf32> = #fovea.scale_columns<#fovea.stored<"a", "w", tensor<4x8xf32>>, #fovea.stored<"a", "n", tensor<8xf32>>, 0.0 : f64>
