// RUN: fovea-opt %s -split-input-file -verify-diagnostics

// What the quantisation of a weight refuses, and the recipe of its scales, by the number of the constraint.

// expected-error @below {{expects a matrix of f16, bf16, f32 or f64 to quantise, got 'tensor<8xf32>'}}
fovea.weight @quantize_c1_rank : tensor<8xi8> = #fovea.quantize<#fovea.stored<"a", "w", tensor<8xf32>>, i8, f32>

// -----

// expected-error @below {{expects a matrix of f16, bf16, f32 or f64 to quantise, got 'tensor<6x8xi32>'}}
fovea.weight @quantize_c1_type : tensor<6x8xi8> = #fovea.quantize<#fovea.stored<"a", "w", tensor<6x8xi32>>, i8, f32>

// -----

// expected-error @below {{expects to quantise to i8 or i4, got 'i16'}}
fovea.weight @quantize_c2_type : tensor<6x8xi16> = #fovea.quantize<#fovea.stored<"a", "w", tensor<6x8xf32>>, i16, f32>

// -----

// expected-error @below {{expects an even number of inputs in rows and groups of i4, got 3 of 3}}
fovea.weight @quantize_c2_even : tensor<6x3xi4> = #fovea.quantize<#fovea.stored<"a", "w", tensor<6x3xf32>>, i4, f32>

// -----

// expected-error @below {{expects scales of f32, or of groups f16, got 'f16'}}
fovea.weight @quantize_c3 : tensor<6x8xi8> = #fovea.quantize<#fovea.stored<"a", "w", tensor<6x8xf32>>, i8, f16>

// -----

// expected-error @below {{expects groups that divide 8 inputs evenly, got 3}}
fovea.weight @quantize_c4 : tensor<6x8xi8> = #fovea.quantize<#fovea.stored<"a", "w", tensor<6x8xf32>>, i8, f16, group = 3>

// -----

// expected-error @below {{expects groups that divide 8 inputs evenly, got -2}}
fovea.weight @quantize_c4_negative : tensor<6x8xi8> = #fovea.quantize<#fovea.stored<"a", "w", tensor<6x8xf32>>, i8, f16, group = -2>

// -----

// expected-error @below {{expects nothing but pack around elements that share bytes, got #fovea.quantize}}
fovea.weight @quantize_c5 : tensor<6x8xi4> = #fovea.reshape<#fovea.quantize<#fovea.stored<"a", "w", tensor<6x8xf32>>, i4, f16, group = 4>, [6, 8]>

// -----

// expected-error @below {{expects groups that divide 8 inputs evenly, got 5}}
fovea.weight @quantization_scales_c1 : tensor<6x2xf16> = #fovea.quantization_scales<#fovea.stored<"a", "w", tensor<6x8xf32>>, i8, f16, group = 5>
