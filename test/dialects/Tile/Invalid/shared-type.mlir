// RUN: fovea-opt %s -split-input-file -verify-diagnostics

// What the type of shared memory refuses, by the number of the constraint.

// expected-error @below {{expects sizes from 1 to 16777216, got 0 and 4}}
func.func private @shared_c1(!tile.shared<0x4xf32>)

// -----

// expected-error @below {{expects sizes from 1 to 16777216, got 4 and 9223372036854775807}}
func.func private @shared_c1_too_many_columns(!tile.shared<4x9223372036854775807xf32>)

// -----

// expected-error @below {{expects strides of at most 16777216, got [9223372036854775807, 1]}}
func.func private @shared_c3_too_far(!tile.shared<4x4xf32, strides [9223372036854775807, 1]>)

// -----

// expected-error @below {{expects a swizzle of 32, 64 or 128 bytes, got 9223372036854775807}}
func.func private @shared_c4_too_wide(!tile.shared<4x4xf32, swizzle 9223372036854775807>)

// -----

// expected-error @below {{expects elements of f16, bf16, f32, f64, i32 or i64, got 'i1'}}
func.func private @shared_c2(!tile.shared<4x4xi1>)

// -----

// expected-error @below {{expects strides that keep elements apart, got [3, 1]}}
func.func private @shared_c3(!tile.shared<4x4xf32, strides [3, 1]>)

// -----

// expected-error @below {{expects two sizes and two strides, got 2 and 1}}
func.func private @shared_strides(!tile.shared<4x4xf32, strides [4]>)

// -----

// expected-error @below {{expects a swizzle of 32, 64 or 128 bytes, got 48}}
func.func private @shared_c4_bytes(!tile.shared<64x64xbf16, swizzle 48>)

// -----

// expected-error @below {{expects strides [64, 1] or [1, 64] with a swizzle of 128 bytes, got [1, 32]}}
func.func private @shared_c4_strides(!tile.shared<64x64xbf16, strides [1, 32], swizzle 128>)

// -----

// expected-error @below {{expected 'swizzle' or strides}}
func.func private @shared_neither(!tile.shared<64x64xbf16, panels 128>)
