// RUN: fovea-opt %s -split-input-file -verify-diagnostics --fovea-cast-caches=type=int8

// Caches whose scales nobody hands on.

func.func @given(%p: i1, %a: !fovea.cache<key, 2x16xf32>, %x: tensor<?x?x2x16xf32>) -> index {
  // expected-error @below {{hands a cache on that would need scales beside it}}
  %c = scf.if %p -> !fovea.cache<key, 2x16xf32> {
    scf.yield %a : !fovea.cache<key, 2x16xf32>
  } else {
    scf.yield %a : !fovea.cache<key, 2x16xf32>
  }
  %d = fovea.cache_append %c, %x : !fovea.cache<key, 2x16xf32>, tensor<?x?x2x16xf32>
  %n = fovea.cache_length %d : !fovea.cache<key, 2x16xf32>
  return %n : index
}

// -----

func.func @captured(%p: i1, %a: !fovea.cache<key, 2x16xf32>, %x: tensor<?x?x2x16xf32>) {
  // expected-error @below {{hands a cache on that would need scales beside it}}
  scf.if %p {
    %d = fovea.cache_append %a, %x : !fovea.cache<key, 2x16xf32>, tensor<?x?x2x16xf32>
  }
  return
}

// -----

// expected-error @below {{has caches of integers already}}
module {
func.func @read(%q: tensor<?x?x2x32xf32>, %k: !fovea.cache<key, 2x32xi8>, %v: !fovea.cache<value, 2x32xi8>, %s: !fovea.cache<key, 2x1xf32>, %t: !fovea.cache<value, 2x1xf32>) -> tensor<?x?x2x32xf32> {
  %o = fovea.attention %q, %k, %v scales(%s, %t : !fovea.cache<key, 2x1xf32>, !fovea.cache<value, 2x1xf32>) : tensor<?x?x2x32xf32>, !fovea.cache<key, 2x32xi8>, !fovea.cache<value, 2x32xi8> -> tensor<?x?x2x32xf32>
  return %o : tensor<?x?x2x32xf32>
}
}
