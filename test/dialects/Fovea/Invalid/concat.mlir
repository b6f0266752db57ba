// RUN: fovea-opt %s -split-input-file -verify-diagnostics

// What a concatenation of weights refuses, by the number of the constraint.

// expected-error @below {{expects an axis of 'tensor<2x3xf32>', got 2}}
fovea.weight @concat_c1_axis : tensor<2x3xf32> = #fovea.concat<2, #fovea.stored<"a", "w", tensor<2x3xf32>>>

// -----

// expected-error @below {{expects an axis of 'tensor<2x3xf32>', got -1}}
fovea.weight @concat_c1_negative_axis : tensor<2x3xf32> = #fovea.concat<-1, #fovea.stored<"a", "w", tensor<2x3xf32>>>

// -----

// expected-error @below {{expects parts that differ in axis 0 only, got 'tensor<2x3xf32>' and 'tensor<2x4xf32>'}}
fovea.weight @concat_c2_shape : tensor<4x3xf32> = #fovea.concat<0, #fovea.stored<"a", "w", tensor<2x3xf32>>, #fovea.stored<"a", "v", tensor<2x4xf32>>>

// -----

// expected-error @below {{expects parts that differ in axis 0 only, got 'tensor<2xf32>' and 'tensor<2xf16>'}}
fovea.weight @concat_c2_element_type : tensor<4xf32> = #fovea.concat<0, #fovea.stored<"a", "w", tensor<2xf32>>, #fovea.stored<"a", "v", tensor<2xf16>>>

// -----

// expected-error @below {{expects parts that differ in axis 0 only, got 'tensor<2x3xf32>' and 'tensor<2xf32>'}}
fovea.weight @concat_c2_rank : tensor<4x3xf32> = #fovea.concat<0, #fovea.stored<"a", "w", tensor<2x3xf32>>, #fovea.stored<"a", "v", tensor<2xf32>>>

// -----

// expected-error @below {{expects parts of fewer than 2^63 rows in all along axis 0}}
fovea.weight @concat_c3_rows : tensor<4xi8> = #fovea.concat<0, #fovea.stored<"a", "w", tensor<9223372036854775807xi8>>, #fovea.stored<"a", "v", tensor<9223372036854775807xi8>>>

// -----

// expected-error @below {{expects a tensor of fewer than 2^63 bytes, got 'tensor<4000000000000000000xf32>'}}
fovea.weight @concat_c3_bytes : tensor<4xf32> = #fovea.concat<0, #fovea.stored<"a", "w", tensor<2000000000000000000xf32>>, #fovea.stored<"a", "v", tensor<2000000000000000000xf32>>>
