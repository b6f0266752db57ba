// RUN: fovea-opt %s -split-input-file -verify-diagnostics

// What a stored tensor refuses, by the number of the constraint.

// expected-error @below {{expects a stored tensor of static shape, got 'tensor<?xf32>'}}
fovea.weight @stored_c1_shape : tensor<2xf32> = #fovea.stored<"a", "w", tensor<?xf32>>

// -----

// expected-error @below {{expects a tensor of fewer than 2^63 bytes, got 'tensor<4294967296x4294967296xf32>'}}
fovea.weight @stored_c1_bytes : tensor<2xf32> = #fovea.stored<"a", "w", tensor<4294967296x4294967296xf32>>

// -----

// An axis of size zero does not hide the others: a row of it is still a size.
// expected-error @below {{expects a tensor of fewer than 2^63 bytes, got 'tensor<0x4294967296x4294967296xf32>'}}
fovea.weight @stored_c1_bytes_of_a_row : tensor<2xf32> = #fovea.stored<"a", "w", tensor<0x4294967296x4294967296xf32>>

// -----

// expected-error @below {{expects a stored tensor of integers, floating-point numbers or blocks, got 'tensor<2xindex>'}}
fovea.weight @stored_c2 : tensor<2xindex> = #fovea.stored<"a", "w", tensor<2xindex>>

// -----

// expected-error @below {{expects a stored tensor without an encoding, got 'tensor<2x3xf32, #fovea.panels<16>>'}}
fovea.weight @stored_c3 : tensor<2x3xf32> = #fovea.stored<"a", "w", tensor<2x3xf32, #fovea.panels<16>>>

// -----

// expected-error @below {{expects whole bytes in each row of a stored tensor, got 'tensor<2x3xi4>'}}
fovea.weight @stored_c2_bytes : tensor<2x3xi4> = #fovea.stored<"a", "w", tensor<2x3xi4>>
