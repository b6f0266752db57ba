// RUN: fovea-opt %s -split-input-file -verify-diagnostics

// What fovea.cache_read refuses, by the number of the constraint.

func.func @cache_read_c1_heads(%c: !fovea.cache<key, 2x32xf32>, %b: index, %n: index) {
  // expected-error @below {{expects a tensor of open batch and length, 2 heads and size 32, got 'tensor<?x?x3x32xf32>'}}
  %r = fovea.cache_read %c[%b, %n] : !fovea.cache<key, 2x32xf32> -> tensor<?x?x3x32xf32>
  return
}

// -----

func.func @cache_read_c1_length(%c: !fovea.cache<key, 2x32xf32>, %b: index, %n: index) {
  // expected-error @below {{expects a tensor of open batch and length, 2 heads and size 32, got 'tensor<?x7x2x32xf32>'}}
  %r = fovea.cache_read %c[%b, %n] : !fovea.cache<key, 2x32xf32> -> tensor<?x7x2x32xf32>
  return
}

// -----

func.func @cache_read_c2_type(%c: !fovea.cache<key, 2x32xf32>, %b: index, %n: index) {
  // expected-error @below {{expects a tensor of the cache's floats, got 'tensor<?x?x2x32xbf16>' of '!fovea.cache<key, 2x32xf32>'}}
  %r = fovea.cache_read %c[%b, %n] : !fovea.cache<key, 2x32xf32> -> tensor<?x?x2x32xbf16>
  return
}

// -----

func.func @cache_read_c2_integers(%c: !fovea.cache<key, 2x32xi8>, %b: index, %n: index) {
  // expected-error @below {{expects a tensor of the cache's floats, got 'tensor<?x?x2x32xf32>' of '!fovea.cache<key, 2x32xi8>'}}
  %r = fovea.cache_read %c[%b, %n] : !fovea.cache<key, 2x32xi8> -> tensor<?x?x2x32xf32>
  return
}
