// RUN: fovea-opt %s -split-input-file -verify-diagnostics

// What a slice of a weight refuses, by the number of the constraint.

// expected-error @below {{expects an axis of 'tensor<2x3xf32>', got 2}}
fovea.weight @slice_c1 : tensor<2x3xf32> = #fovea.slice<#fovea.stored<"a", "w", tensor<2x3xf32>>, 2 from 0 count 1>

// -----

// expected-error @below {{expects a range within the 3 places of axis 1, got 2 from 2}}
fovea.weight @slice_c2_end : tensor<2x2xf32> = #fovea.slice<#fovea.stored<"a", "w", tensor<2x3xf32>>, 1 from 2 count 2>

// -----

// expected-error @below {{expects a range within the 3 places of axis 1, got 0 from 1}}
fovea.weight @slice_c2_none : tensor<2x2xf32> = #fovea.slice<#fovea.stored<"a", "w", tensor<2x3xf32>>, 1 from 1 count 0>
