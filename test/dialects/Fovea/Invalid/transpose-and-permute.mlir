// RUN: fovea-opt %s -split-input-file -verify-diagnostics

// What the transpose of a weight and a permutation of its axes refuse, by the number of the constraint.

// expected-error @below {{expects a matrix to transpose, got 'tensor<2x3x4xf32>'}}
fovea.weight @transpose_c1 : tensor<3x2xf32> = #fovea.transpose<#fovea.stored<"a", "w", tensor<2x3x4xf32>>>

// -----

// expected-error @below {{expects each axis of 'tensor<2x3x4xf32>' once, got [0, 1]}}
fovea.weight @permute_c1_few : tensor<2x3xf32> = #fovea.permute<#fovea.stored<"a", "w", tensor<2x3x4xf32>>, [0, 1]>

// -----

// expected-error @below {{expects each axis of 'tensor<2x3xf32>' once, got [1, 1]}}
fovea.weight @permute_c1_twice : tensor<3x3xf32> = #fovea.permute<#fovea.stored<"a", "w", tensor<2x3xf32>>, [1, 1]>
