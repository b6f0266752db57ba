// RUN: fovea-opt %s -split-input-file -verify-diagnostics

// expected-error @below {{expects blocks of a multiple of 8 integers, at most 16777216, got 12}}
func.func private @blocks_c1(tensor<8x12x!fovea.blocks<int4, 12>>)

// -----

// expected-error @below {{expects no number of elements for blocks of q4_0, got 32}}
func.func private @blocks_c1_of_gguf(tensor<8x32x!fovea.blocks<q4_0, 32>>)

// -----

// expected-error @below {{expects blocks as awq gives them with zeros, got '!fovea.blocks<int8_offset, 64>'}}
fovea.weight @unpack_c1 : tensor<64x64x!fovea.blocks<int8_offset, 64>> = #fovea.unpack<awq, #fovea.stored<"m", "q", tensor<64x8xi32>>, #fovea.stored<"m", "s", tensor<1x64xf16>>, !fovea.blocks<int8_offset, 64>, zeros = #fovea.stored<"m", "z", tensor<1x8xi32>>>

// -----

// expected-error @below {{expects blocks as gptq gives them without zeros, got '!fovea.blocks<int4_offset, 64>'}}
fovea.weight @unpack_c1_zeros : tensor<64x64x!fovea.blocks<int4_offset, 64>> = #fovea.unpack<gptq, #fovea.stored<"m", "q", tensor<8x64xi32>>, #fovea.stored<"m", "s", tensor<1x64xf16>>, !fovea.blocks<int4_offset, 64>>

// -----

// expected-error @below {{expects codes of i32 as gptq packs them, got 'tensor<8x64xi8>'}}
fovea.weight @unpack_c2 : tensor<64x64x!fovea.blocks<int4, 64>> = #fovea.unpack<gptq, #fovea.stored<"m", "q", tensor<8x64xi8>>, #fovea.stored<"m", "s", tensor<1x64xf16>>, !fovea.blocks<int4, 64>>

// -----

// expected-error @below {{expects codes of i32 as gptq packs them, got 'tensor<1152921504606846976x0xi32>'}}
fovea.weight @unpack_c2_size : tensor<0x8x!fovea.blocks<int4, 8>> = #fovea.unpack<gptq, #fovea.stored<"m", "q", tensor<1152921504606846976x0xi32>>, #fovea.stored<"m", "s", tensor<1x0xf16>>, !fovea.blocks<int4, 8>>

// -----

// expected-error @below {{expects zeros of i32 [1, 8], got 'tensor<8x1xi32>'}}
fovea.weight @unpack_c2_zeros : tensor<64x64x!fovea.blocks<int4_offset, 64>> = #fovea.unpack<gptq, #fovea.stored<"m", "q", tensor<8x64xi32>>, #fovea.stored<"m", "s", tensor<1x64xf16>>, !fovea.blocks<int4_offset, 64>, zeros = #fovea.stored<"m", "z", tensor<8x1xi32>>>

// -----

// expected-error @below {{expects whole blocks of 48 in each row, got 'tensor<64x64x!fovea.blocks<int4, 48>>'}}
fovea.weight @unpack_c2_blocks : tensor<64x64x!fovea.blocks<int4, 48>> = #fovea.unpack<gptq, #fovea.stored<"m", "q", tensor<8x64xi32>>, #fovea.stored<"m", "s", tensor<1x64xf16>>, !fovea.blocks<int4, 48>>

// -----

// expected-error @below {{expects scales of f16, bf16 or f32 [2, 64], got 'tensor<1x64xf16>'}}
fovea.weight @unpack_c3 : tensor<64x64x!fovea.blocks<int4, 32>> = #fovea.unpack<gptq, #fovea.stored<"m", "q", tensor<8x64xi32>>, #fovea.stored<"m", "s", tensor<1x64xf16>>, !fovea.blocks<int4, 32>>

// -----

// expected-error @below {{expects no order of inputs for awq}}
fovea.weight @unpack_c4 : tensor<64x64x!fovea.blocks<int4, 64>> = #fovea.unpack<awq, #fovea.stored<"m", "q", tensor<64x8xi32>>, #fovea.stored<"m", "s", tensor<1x64xf16>>, !fovea.blocks<int4, 64>, order = #fovea.stored<"m", "g", tensor<64xi32>>>

// -----

// expected-error @below {{expects an order of i32 [64], got 'tensor<32xi32>'}}
fovea.weight @unpack_c4_shape : tensor<64x64x!fovea.blocks<int4, 64>> = #fovea.unpack<gptq, #fovea.stored<"m", "q", tensor<8x64xi32>>, #fovea.stored<"m", "s", tensor<1x64xf16>>, !fovea.blocks<int4, 64>, order = #fovea.stored<"m", "g", tensor<32xi32>>>

// -----

// expected-error @below {{expects a group of i32 for each input, got 'tensor<4x4xi32>'}}
fovea.weight @group_order_c1 : tensor<4x4xi32> = #fovea.group_order<#fovea.stored<"m", "g", tensor<4x4xi32>>>

// -----

// expected-error @below {{expects a matrix of f8E4M3FN to scale, got 'tensor<8x8xf32>'}}
fovea.weight @scale_blocks_c1 : tensor<8x8xf32> = #fovea.scale_blocks<#fovea.stored<"m", "q", tensor<8x8xf32>>, #fovea.stored<"m", "s", tensor<1x1xf32>>, 8, 8, f32>

// -----

// expected-error @below {{expects scales of f16, bf16 or f32 [2, 1], got 'tensor<1x1xf32>'}}
fovea.weight @scale_blocks_c2 : tensor<8x8xf32> = #fovea.scale_blocks<#fovea.stored<"m", "q", tensor<8x8xf8E4M3FN>>, #fovea.stored<"m", "s", tensor<1x1xf32>>, 4, 8, f32>

// -----

// expected-error @below {{expects blocks of positive sizes, got 0 and 8}}
fovea.weight @scale_blocks_c2_sizes : tensor<8x8xf32> = #fovea.scale_blocks<#fovea.stored<"m", "q", tensor<8x8xf8E4M3FN>>, #fovea.stored<"m", "s", tensor<1x1xf32>>, 0, 8, f32>

// -----

// expected-error @below {{expects a result of f16, bf16, f32 or f64, got 'i8'}}
fovea.weight @scale_blocks_c3 : tensor<8x8xi8> = #fovea.scale_blocks<#fovea.stored<"m", "q", tensor<8x8xf8E4M3FN>>, #fovea.stored<"m", "s", tensor<1x1xf32>>, 8, 8, i8>

// -----

// expected-error @below {{expects steps around blocks that keep rows whole, got}}
fovea.weight @permute_c2 : tensor<64x8x!fovea.blocks<q8_0>> = #fovea.permute<#fovea.stored<"a", "w", tensor<8x64x!fovea.blocks<q8_0>>>, [1, 0]>
