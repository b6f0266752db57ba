// RUN: fovea-opt %s -split-input-file -verify-diagnostics

// What the type of a cache refuses, by the number of the constraint.

// expected-error @below {{expects positive heads and size, got 0 and 32}}
func.func private @cache_c1_heads(!fovea.cache<key, 0x32xf32>)

// -----

// expected-error @below {{expects positive heads and size, got 2 and 0}}
func.func private @cache_c1_size(!fovea.cache<key, 2x0xf32>)

// -----

// expected-error @below {{expects element type f16, bf16, f32, f64 or i8, got 'i16'}}
func.func private @cache_c2(!fovea.cache<key, 2x32xi16>)

// -----

// expected-error @below {{expects cache kind 'key' or 'value', got 'keys'}}
func.func private @cache_kind(!fovea.cache<keys, 2x32xf32>)

// -----

// expected-error @below {{expects a cache shape of heads x size, got 3 sizes}}
func.func private @cache_shape(!fovea.cache<key, 2x32x4xf32>)
