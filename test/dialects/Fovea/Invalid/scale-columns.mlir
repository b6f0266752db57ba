// RUN: fovea-opt %s -split-input-file -verify-diagnostics

// What a weight with scaled columns refuses, by the number of the constraint.

// expected-error @below {{expects a matrix and a vector for its columns, got 'tensor<2x3xf32>' and 'tensor<2xf32>'}}
fovea.weight @scale_columns_c1 : tensor<2x3xf32> = #fovea.scale_columns<#fovea.stored<"a", "w", tensor<2x3xf32>>, #fovea.stored<"a", "n", tensor<2xf32>>, 0.0 : f64>

// -----

// expected-error @below {{expects elements of f16, bf16, f32 or f64, got 'tensor<2x3xi8>' and 'tensor<3xf32>'}}
fovea.weight @scale_columns_c2 : tensor<2x3xi8> = #fovea.scale_columns<#fovea.stored<"a", "w", tensor<2x3xi8>>, #fovea.stored<"a", "n", tensor<3xf32>>, 0.0 : f64>
