// RUN: fovea-opt %s --fovea-quantize-weights=type=int3 -verify-diagnostics

// expected-error @below {{expects the type int8 or int4, got 'int3'}}
module {
}
