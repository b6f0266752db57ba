// RUN: fovea-opt %s -split-input-file -verify-diagnostics

// What the encoding of panels refuses, by the number of the constraint.

// expected-error @below {{expects panels of a width that is a multiple of 8 up to 1024, got 12}}
func.func private @panels_c1(tensor<2x3xf32, #fovea.panels<12>>)

// -----

// expected-error @below {{expects panels that interleave 1, 2, 4, 8 or 16 inputs, got 3}}
func.func private @panels_c2(tensor<2x3xf32, #fovea.panels<16, interleave = 3>>)

// -----

// expected-error @below {{expects panels of a matrix of numbers of static shape, got 'tensor<?x3xf32>'}}
func.func private @panels_c3_shape(tensor<?x3xf32, #fovea.panels<16>>)

// -----

// expected-error @below {{expects panels of a matrix of numbers of static shape, got 'tensor<2x3xindex>'}}
func.func private @panels_c3_element(tensor<2x3xindex, #fovea.panels<16>>)

// -----

// expected-error @below {{expects panels of fewer than 2^63 bytes, got 'tensor<0x4000000000000000000xf32>'}}
func.func private @panels_c4(tensor<0x4000000000000000000xf32, #fovea.panels<16>>)
