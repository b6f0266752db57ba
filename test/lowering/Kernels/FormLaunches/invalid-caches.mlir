// RUN: fovea-opt %s --split-input-file --verify-diagnostics --fovea-form-launches

func.func @a_cache_value_grows_once(%x: tensor<?x1x1x2xf32>, %c: !fovea.cache<key, 1x2xf32>) -> (!fovea.cache<key, 1x2xf32>, !fovea.cache<key, 1x2xf32>) attributes {fovea.entry} {
  // expected-note @below {{a value can grow once}}
  %0 = fovea.group(%a = %c, %b = %x) schedule(#fovea.rows<rows = 4>) : (!fovea.cache<key, 1x2xf32>, tensor<?x1x1x2xf32>) -> !fovea.cache<key, 1x2xf32> {
    %i = fovea.cache_append %a, %b : !fovea.cache<key, 1x2xf32>, tensor<?x1x1x2xf32>
    fovea.yield %i : !fovea.cache<key, 1x2xf32>
  }
  // expected-error @below {{appends to a cache value that was appended to before}}
  %1 = fovea.group(%a = %c, %b = %x) schedule(#fovea.rows<rows = 4>) : (!fovea.cache<key, 1x2xf32>, tensor<?x1x1x2xf32>) -> !fovea.cache<key, 1x2xf32> {
    %i = fovea.cache_append %a, %b : !fovea.cache<key, 1x2xf32>, tensor<?x1x1x2xf32>
    fovea.yield %i : !fovea.cache<key, 1x2xf32>
  }
  return %0, %1 : !fovea.cache<key, 1x2xf32>, !fovea.cache<key, 1x2xf32>
}

// -----

// expected-error @below {{returns a cache that comes from none of its arguments, as result 0}}
func.func @returned_cache_without_memory(%n: tensor<4xf32>) -> !fovea.cache<key, 1x2xf32> attributes {fovea.entry} {
  %c4 = arith.constant 4 : index
  %0 = fovea.cache_create %c4, %c4 : !fovea.cache<key, 1x2xf32>
  return %0 : !fovea.cache<key, 1x2xf32>
}

// -----

func.func @a_cache_is_returned_once(%c: !fovea.cache<key, 1x2xf32> {fovea.name = "past"}) -> (!fovea.cache<key, 1x2xf32>, !fovea.cache<key, 1x2xf32>) attributes {fovea.entry} {
  // expected-error @below {{continues argument 'past' twice, as results 0 and 1}}
  return %c, %c : !fovea.cache<key, 1x2xf32>, !fovea.cache<key, 1x2xf32>
}
