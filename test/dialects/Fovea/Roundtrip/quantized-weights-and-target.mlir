// RUN: fovea-opt %s --verify-roundtrip

fovea.weight @q8 : tensor<6x4xi8> = #fovea.quantize<#fovea.stored<"a", "q", tensor<6x4xf32>>, i8, f32>
fovea.weight @q8.scales : tensor<6xf32> = #fovea.quantization_scales<#fovea.stored<"a", "q", tensor<6x4xf32>>, i8, f32>
fovea.weight @q4 : tensor<6x4xi4> = #fovea.quantize<#fovea.stored<"a", "q", tensor<6x4xf32>>, i4, f16, group = 2>
fovea.weight @q4.scales : tensor<6x2xf16> = #fovea.quantization_scales<#fovea.stored<"a", "q", tensor<6x4xf32>>, i4, f16, group = 2>
module attributes {fovea.target = #fovea.target<"avx512", lanes = 16, registers = 32>} {
  func.func @schedules() attributes {schedules = [
      #fovea.contraction<tile = [64, 48], chunk = 256, block = [8, 48]>,
      #fovea.contraction<tile = [64, 48], chunk = 256, block = [8, 48], operands = i8>,
      #fovea.contraction<tile = [64, 48], chunk = 256, block = [8, 48], outermost = rows, operands = i8>,
      #fovea.attention_tiles<queries = 64, keys = 64, axis = queries, scores = [4, 64], values = [4, 64]>,
      #fovea.attention_tiles<queries = 16, keys = 64, axis = heads, scores = [4, 16], values = [2, 16], split = [512, 64]>,
      #fovea.attention_tiles<queries = 64, keys = 64, axis = queries, scores = [8, 4], values = [8, 4], operands = bf16>,
      #fovea.rows<rows = 4>, #fovea.elements<count = 1024>,
      #fovea.by_rows<most = 1, few = #fovea.rows<rows = 1>, many = #fovea.rows<rows = 4>>]} {
    return
  }
}
