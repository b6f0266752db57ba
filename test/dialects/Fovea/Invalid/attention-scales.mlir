// RUN: fovea-opt %s -split-input-file -verify-diagnostics

// What fovea.attention refuses of scales, C13.

func.func @none(%q: tensor<?x?x2x32xf32>, %k: !fovea.cache<key, 2x32xi8>, %v: !fovea.cache<value, 2x32xi8>) {
  // expected-error @below {{expects scales of caches of i8 and of no others, got a key of '!fovea.cache<key, 2x32xi8>' without scales}}
  %o = fovea.attention %q, %k, %v : tensor<?x?x2x32xf32>, !fovea.cache<key, 2x32xi8>, !fovea.cache<value, 2x32xi8> -> tensor<?x?x2x32xf32>
  return
}

// -----

func.func @floats(%q: tensor<?x?x2x32xf32>, %k: !fovea.cache<key, 2x32xi8>, %v: !fovea.cache<value, 2x32xf32>, %s: !fovea.cache<key, 2x1xf32>, %t: !fovea.cache<value, 2x1xf32>) {
  // expected-error @below {{expects scales of caches of i8 and of no others, got a value of '!fovea.cache<value, 2x32xf32>' with scales}}
  %o = fovea.attention %q, %k, %v scales(%s, %t : !fovea.cache<key, 2x1xf32>, !fovea.cache<value, 2x1xf32>) : tensor<?x?x2x32xf32>, !fovea.cache<key, 2x32xi8>, !fovea.cache<value, 2x32xf32> -> tensor<?x?x2x32xf32>
  return
}

// -----

func.func @heads(%q: tensor<?x?x2x32xf32>, %k: !fovea.cache<key, 2x32xi8>, %v: !fovea.cache<value, 2x32xi8>, %s: !fovea.cache<key, 1x1xf32>, %t: !fovea.cache<value, 2x1xf32>) {
  // expected-error @below {{expects key scales of type '!fovea.cache<key, 2x1xf32>', got '!fovea.cache<key, 1x1xf32>'}}
  %o = fovea.attention %q, %k, %v scales(%s, %t : !fovea.cache<key, 1x1xf32>, !fovea.cache<value, 2x1xf32>) : tensor<?x?x2x32xf32>, !fovea.cache<key, 2x32xi8>, !fovea.cache<value, 2x32xi8> -> tensor<?x?x2x32xf32>
  return
}
