// RUN: fovea-opt %s -split-input-file -verify-diagnostics

// expected-error @below {{expects positive heads and size, got 0 and 32}}
func.func private @cache_c1_heads(!fovea.cache<key, 0x32xf32>)

// -----

// expected-error @below {{expects positive heads and size, got 2 and 0}}
func.func private @cache_c1_size(!fovea.cache<key, 2x0xf32>)

// -----

// expected-error @below {{expects element type f16, bf16, f32 or f64, got 'i8'}}
func.func private @cache_c2(!fovea.cache<key, 2x32xi8>)

// -----

// expected-error @below {{expects cache kind 'key' or 'value', got 'keys'}}
func.func private @cache_kind(!fovea.cache<keys, 2x32xf32>)

// -----

// expected-error @below {{expects a cache shape of heads x size, got 3 sizes}}
func.func private @cache_shape(!fovea.cache<key, 2x32x4xf32>)

// -----

func.func @cache_append_c1_heads(%c: !fovea.cache<key, 2x32xf32>, %x: tensor<?x?x3x32xf32>) {
  // expected-error @below {{expects heads and size 2 and 32, got 'tensor<?x?x3x32xf32>'}}
  %d = fovea.cache_append %c, %x : !fovea.cache<key, 2x32xf32>, tensor<?x?x3x32xf32>
  return
}

// -----

func.func @cache_append_c1_dynamic(%c: !fovea.cache<key, 2x32xf32>, %x: tensor<?x?x2x?xf32>) {
  // expected-error @below {{expects heads and size 2 and 32, got 'tensor<?x?x2x?xf32>'}}
  %d = fovea.cache_append %c, %x : !fovea.cache<key, 2x32xf32>, tensor<?x?x2x?xf32>
  return
}

// -----

func.func @cache_append_same_type(%c: !fovea.cache<key, 2x32xf32>, %x: tensor<?x?x2x32xf32>) {
  // expected-error @below {{failed to verify that all of {cache, result} have same type}}
  %d = "fovea.cache_append"(%c, %x) : (!fovea.cache<key, 2x32xf32>, tensor<?x?x2x32xf32>) -> !fovea.cache<value, 2x32xf32>
  return
}
