// RUN: fovea-opt %s -split-input-file -verify-diagnostics

// What a packed weight refuses, by the number of the constraint.

// expected-error @below {{expects panels of a matrix of numbers of static shape, got 'tensor<2xf32>'}}
fovea.weight @pack_c1 : tensor<2xf32> = #fovea.pack<#fovea.stored<"a", "w", tensor<2xf32>>, #fovea.panels<16>>

// -----

// expected-error @below {{expects panels of fewer than 2^63 bytes, got 'tensor<1x1000000000000000000xf32>'}}
fovea.weight @pack_c2 : tensor<1x1000000000000000000xf32> = #fovea.pack<#fovea.stored<"a", "w", tensor<1x1000000000000000000xf32>>, #fovea.panels<16>>

// -----

// expected-error @below {{expects panels as a recipe's last step, got #fovea.pack}}
fovea.weight @pack_c3_cast : tensor<2x3xf16> = #fovea.cast<#fovea.pack<#fovea.stored<"a", "w", tensor<2x3xf32>>, #fovea.panels<16>>, f16>

// -----

// expected-error @below {{expects panels as a recipe's last step, got #fovea.pack}}
fovea.weight @pack_c3_pack : tensor<2x3xf32> = #fovea.pack<#fovea.pack<#fovea.stored<"a", "w", tensor<2x3xf32>>, #fovea.panels<16>>>
