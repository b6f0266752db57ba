// RUN: fovea-opt %s | fovea-opt | FileCheck %s

// Matrices as checkpoints pack them.

// CHECK: fovea.weight @gptq : tensor<64x256x!fovea.blocks<int4_offset, 128>> = #fovea.unpack<gptq, #fovea.stored<"m", "q", tensor<32x64xi32>>, #fovea.stored<"m", "s", tensor<2x64xf16>>, !fovea.blocks<int4_offset, 128>, zeros = #fovea.stored<"m", "z", tensor<2x8xi32>>>
fovea.weight @gptq : tensor<64x256x!fovea.blocks<int4_offset, 128>> = #fovea.unpack<gptq, #fovea.stored<"m", "q", tensor<32x64xi32>>, #fovea.stored<"m", "s", tensor<2x64xf16>>, !fovea.blocks<int4_offset, 128>, zeros = #fovea.stored<"m", "z", tensor<2x8xi32>>>

// CHECK: fovea.weight @ordered : tensor<64x256x!fovea.blocks<int8, 128>> = #fovea.unpack<gptq_v2, {{.*}}, !fovea.blocks<int8, 128>, order = #fovea.stored<"m", "g", tensor<256xi32>>>
fovea.weight @ordered : tensor<64x256x!fovea.blocks<int8, 128>> = #fovea.unpack<gptq_v2, #fovea.stored<"m", "q", tensor<64x64xi32>>, #fovea.stored<"m", "s", tensor<2x64xf16>>, !fovea.blocks<int8, 128>, order = #fovea.stored<"m", "g", tensor<256xi32>>>

// CHECK: fovea.weight @places : tensor<256xi32> = #fovea.group_order<#fovea.stored<
fovea.weight @places : tensor<256xi32> = #fovea.group_order<#fovea.stored<"m", "g", tensor<256xi32>>>

// CHECK: fovea.weight @awq : tensor<64x256x!fovea.blocks<int4_offset, 64>> = #fovea.unpack<awq,
fovea.weight @awq : tensor<64x256x!fovea.blocks<int4_offset, 64>> = #fovea.unpack<awq, #fovea.stored<"m", "q", tensor<256x8xi32>>, #fovea.stored<"m", "s", tensor<4x64xf16>>, !fovea.blocks<int4_offset, 64>, zeros = #fovea.stored<"m", "z", tensor<4x8xi32>>>

// CHECK: fovea.weight @rows : tensor<60x256x!fovea.blocks<int4_offset, 32>> = #fovea.unpack<rows,
fovea.weight @rows : tensor<60x256x!fovea.blocks<int4_offset, 32>> = #fovea.unpack<rows, #fovea.stored<"m", "q", tensor<60x32xi32>>, #fovea.stored<"m", "s", tensor<60x8xbf16>>, !fovea.blocks<int4_offset, 32>, zeros = #fovea.stored<"m", "z", tensor<8x8xi32>>>

// CHECK: fovea.weight @bytes : tensor<60x256x!fovea.blocks<int8, 256>> = #fovea.unpack<bytes,
fovea.weight @bytes : tensor<60x256x!fovea.blocks<int8, 256>> = #fovea.unpack<bytes, #fovea.stored<"m", "q", tensor<60x256xi8>>, #fovea.stored<"m", "s", tensor<60x1xf32>>, !fovea.blocks<int8, 256>>

// Of a gate and what it gates rows alternate.
// CHECK: fovea.weight @mxfp4 : tensor<24x64x!fovea.blocks<mxfp4>> = #fovea.reshape<#fovea.permute<#fovea.reshape<#fovea.unpack<mxfp4,
fovea.weight @mxfp4 : tensor<24x64x!fovea.blocks<mxfp4>> = #fovea.reshape<#fovea.permute<#fovea.reshape<#fovea.unpack<mxfp4, #fovea.stored<"m", "q", tensor<2x12x2x16xi8>>, #fovea.stored<"m", "s", tensor<2x12x2xi8>>, !fovea.blocks<mxfp4>>, [2, 6, 2, 64]>, [0, 2, 1, 3]>, [24, 64]>

// CHECK: fovea.weight @float8 : tensor<60x256xf32> = #fovea.scale_blocks<#fovea.stored<"m", "q", tensor<60x256xf8E4M3FN>>, #fovea.stored<"m", "s", tensor<2x2xf32>>, 48, 128, f32>
fovea.weight @float8 : tensor<60x256xf32> = #fovea.scale_blocks<#fovea.stored<"m", "q", tensor<60x256xf8E4M3FN>>, #fovea.stored<"m", "s", tensor<2x2xf32>>, 48, 128, f32>
