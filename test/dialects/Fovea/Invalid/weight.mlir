// RUN: fovea-opt %s -split-input-file -verify-diagnostics

// What fovea.weight refuses, by the number of the constraint.

// expected-error @below {{expects a recipe for 'tensor<2x3xf32>', got one for 'tensor<3x2xf32>'}}
fovea.weight @weight_c1_shape : tensor<2x3xf32> = #fovea.stored<"a", "w", tensor<3x2xf32>>

// -----

// expected-error @below {{expects a recipe for 'tensor<2xf32>', got one for 'tensor<2xbf16>'}}
fovea.weight @weight_c1_element_type : tensor<2xf32> = #fovea.stored<"a", "w", tensor<2xbf16>>

// -----

// expected-error @below {{expects a recipe, got 1 : i64}}
fovea.weight @weight_c1_no_recipe : tensor<2xf32> = 1 : i64

// -----

// expected-error @below {{expects a static shape, got 'tensor<?xf32>'}}
fovea.weight @weight_c3 : tensor<?xf32> = #fovea.stored<"a", "w", tensor<2xf32>>

// -----

// expected-error @below {{expects a recipe, got "w"}}
fovea.weight @weight_c2_inner : tensor<2x2xf32> = #fovea.pack<#fovea.transpose<"w">>

// -----

// expected-error @below {{expects a recipe for 'tensor<2x3xf32>', got one for 'tensor<2x3xf32, #fovea.panels<16>>'}}
fovea.weight @weight_c1_encoding : tensor<2x3xf32> = #fovea.pack<#fovea.stored<"a", "w", tensor<2x3xf32>>, #fovea.panels<16>>
