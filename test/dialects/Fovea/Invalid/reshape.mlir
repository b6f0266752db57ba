// RUN: fovea-opt %s -split-input-file -verify-diagnostics

// What a reshaped weight refuses, by the number of the constraint.

// expected-error @below {{expects a shape of 6 elements for 'tensor<2x3xf32>', got [3, 3]}}
fovea.weight @reshape_c1 : tensor<3x3xf32> = #fovea.reshape<#fovea.stored<"a", "w", tensor<2x3xf32>>, [3, 3]>

// -----

// expected-error @below {{expects a shape of 6 elements for 'tensor<2x3xf32>', got [-2, -3]}}
fovea.weight @reshape_c1_negative : tensor<3x3xf32> = #fovea.reshape<#fovea.stored<"a", "w", tensor<2x3xf32>>, [-2, -3]>
