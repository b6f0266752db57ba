// RUN: fovea-opt %s --split-input-file --verify-diagnostics --fovea-form-launches

func.func @a_cache_value_grows_once(%x: tensor<?x1x1x2xf32>, %c: !fovea.cache<key, 1x2xf32>) -> (!fovea.cache<key, 1x2xf32>, !fovea.cache<key, 1x2xf32>) attributes {fovea.entry} {
  // expected-note @below {{a value can grow once}}
  %0 = fovea.group(%a = %c, %b = %x) schedule(#fovea.loops<parallel = 2>) : (!fovea.cache<key, 1x2xf32>, tensor<?x1x1x2xf32>) -> !fovea.cache<key, 1x2xf32> {
    %i = fovea.cache_append %a, %b : !fovea.cache<key, 1x2xf32>, tensor<?x1x1x2xf32>
    fovea.yield %i : !fovea.cache<key, 1x2xf32>
  }
  // expected-error @below {{appends to a cache value that was appended to before}}
  %1 = fovea.group(%a = %c, %b = %x) schedule(#fovea.loops<parallel = 2>) : (!fovea.cache<key, 1x2xf32>, tensor<?x1x1x2xf32>) -> !fovea.cache<key, 1x2xf32> {
    %i = fovea.cache_append %a, %b : !fovea.cache<key, 1x2xf32>, tensor<?x1x1x2xf32>
    fovea.yield %i : !fovea.cache<key, 1x2xf32>
  }
  return %0, %1 : !fovea.cache<key, 1x2xf32>, !fovea.cache<key, 1x2xf32>
}

// -----

func.func @computing_outside_of_groups(%x: tensor<?x4xf32>) -> tensor<?x4xf32> attributes {fovea.entry} {
  // expected-error @below {{is neither in a group, nor a view, nor index arithmetic}}
  %0 = fovea.activation relu %x : tensor<?x4xf32>
  return %0 : tensor<?x4xf32>
}

// -----

// expected-error @below {{returns a cache that comes from none of its arguments, as result 0}}
func.func @returned_cache_without_memory(%n: tensor<4xf32>) -> !fovea.cache<key, 1x2xf32> attributes {fovea.entry} {
  %c4 = arith.constant 4 : index
  %0 = fovea.cache_create %c4, %c4 : !fovea.cache<key, 1x2xf32>
  return %0 : !fovea.cache<key, 1x2xf32>
}

// -----

func.func @group_without_schedule(%x: tensor<?x4xf32>) -> tensor<?x4xf32> attributes {fovea.entry} {
  // expected-error @below {{expects a schedule that a kernel builder knows, got none}}
  %0 = fovea.group(%a = %x) : (tensor<?x4xf32>) -> tensor<?x4xf32> {
    %1 = fovea.activation relu %a : tensor<?x4xf32>
    fovea.yield %1 : tensor<?x4xf32>
  }
  return %0 : tensor<?x4xf32>
}

// -----

func.func @static_size_beyond_memory(%x: tensor<?xf32>) -> tensor<?xf32> attributes {fovea.entry} {
  %v = arith.constant 1.0 : f32
  // expected-error @below {{expects static sizes below 2^48 bytes, got 'tensor<4611686018427387904x4xf32>'}}
  %0 = fovea.group(%a = %x) schedule(#fovea.loops<parallel = 1>) : (tensor<?xf32>) -> tensor<4611686018427387904x4xf32> {
    %s = arith.constant 1.0 : f32
    %1 = tensor.splat %s : tensor<4611686018427387904x4xf32>
    fovea.yield %1 : tensor<4611686018427387904x4xf32>
  }
  return %x : tensor<?xf32>
}
