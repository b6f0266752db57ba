// RUN: fovea-opt %s -split-input-file -verify-diagnostics

// What a cast of a weight refuses, by the number of the constraint.

// expected-error @below {{expects a cast among f16, bf16, f32 and f64, got 'i8' to 'f32'}}
fovea.weight @cast_c1_from : tensor<2xf32> = #fovea.cast<#fovea.stored<"a", "w", tensor<2xi8>>, f32>

// -----

// expected-error @below {{expects a cast among f16, bf16, f32 and f64, got 'f32' to 'i8'}}
fovea.weight @cast_c1_to : tensor<2xi8> = #fovea.cast<#fovea.stored<"a", "w", tensor<2xf32>>, i8>

// -----

// expected-error @below {{expects a tensor of fewer than 2^63 bytes, got 'tensor<2000000000000000000xf64>'}}
fovea.weight @cast_c2 : tensor<2xf64> = #fovea.cast<#fovea.stored<"a", "w", tensor<2000000000000000000xf32>>, f64>
