// RUN: fovea-opt %s --verify-roundtrip

func.func @decode(%c: !fovea.cache<key, 2x32xf32> {fovea.name = "key_cache.0", fovea.dims = ["batch", "capacity"]}, %k: tensor<?x1x2x32xf32>, %b: index, %n: index) -> (!fovea.cache<key, 2x32xf32>, index) attributes {fovea.entry, fovea.max_positions = 512 : i64} {
  %d = fovea.cache_append %c, %k : !fovea.cache<key, 2x32xf32>, tensor<?x1x2x32xf32>
  %l = fovea.cache_length %d : !fovea.cache<key, 2x32xf32>
  %v = fovea.cache_create %b, %n : !fovea.cache<value, 2x32xf32>
  %r = fovea.cache_read %d[%b, %l] : !fovea.cache<key, 2x32xf32> -> tensor<?x?x2x32xf32>
  return %d, %l : !fovea.cache<key, 2x32xf32>, index
}

func.func @integers(%c: !fovea.cache<key, 2x32xi8>, %s: !fovea.cache<key, 2x1xf32>, %v: !fovea.cache<value, 2x32xi8>, %t: !fovea.cache<value, 2x1xf32>, %k: tensor<?x1x2x32xf32>) -> (!fovea.cache<key, 2x32xi8>, !fovea.cache<key, 2x1xf32>, tensor<?x1x2x32xf32>) {
  %d, %e = fovea.cache_append %c, %k scales(%s : !fovea.cache<key, 2x1xf32>) : !fovea.cache<key, 2x32xi8>, tensor<?x1x2x32xf32>
  %o = fovea.attention %k, %d, %v scales(%e, %t : !fovea.cache<key, 2x1xf32>, !fovea.cache<value, 2x1xf32>) scale(0.5) : tensor<?x1x2x32xf32>, !fovea.cache<key, 2x32xi8>, !fovea.cache<value, 2x32xi8> -> tensor<?x1x2x32xf32>
  return %d, %e, %o : !fovea.cache<key, 2x32xi8>, !fovea.cache<key, 2x1xf32>, tensor<?x1x2x32xf32>
}
