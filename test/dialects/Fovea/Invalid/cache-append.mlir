// RUN: fovea-opt %s -split-input-file -verify-diagnostics

// What fovea.cache_append refuses, by the number of the constraint.

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
