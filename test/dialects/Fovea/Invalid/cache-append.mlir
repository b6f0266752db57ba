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

// -----

func.func @cache_append_c3_none(%c: !fovea.cache<key, 2x32xi8>, %x: tensor<?x?x2x32xf32>) {
  // expected-error @below {{expects scales of a cache of i8 and of no other, got '!fovea.cache<key, 2x32xi8>' without scales}}
  %d = fovea.cache_append %c, %x : !fovea.cache<key, 2x32xi8>, tensor<?x?x2x32xf32>
  return
}

// -----

func.func @cache_append_c3_floats(%c: !fovea.cache<key, 2x32xf32>, %s: !fovea.cache<key, 2x1xf32>, %x: tensor<?x?x2x32xf32>) {
  // expected-error @below {{expects scales of a cache of i8 and of no other, got '!fovea.cache<key, 2x32xf32>' with scales}}
  %d, %t = fovea.cache_append %c, %x scales(%s : !fovea.cache<key, 2x1xf32>) : !fovea.cache<key, 2x32xf32>, tensor<?x?x2x32xf32>
  return
}

// -----

func.func @cache_append_c3_type(%c: !fovea.cache<key, 2x32xi8>, %s: !fovea.cache<value, 2x1xf32>, %x: tensor<?x?x2x32xf32>) {
  // expected-error @below {{expects scales of type '!fovea.cache<key, 2x1xf32>', got '!fovea.cache<value, 2x1xf32>'}}
  %d, %t = fovea.cache_append %c, %x scales(%s : !fovea.cache<value, 2x1xf32>) : !fovea.cache<key, 2x32xi8>, tensor<?x?x2x32xf32>
  return
}
