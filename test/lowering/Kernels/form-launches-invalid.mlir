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

func.func @a_cache_is_returned_once(%c: !fovea.cache<key, 1x2xf32> {fovea.name = "past"}) -> (!fovea.cache<key, 1x2xf32>, !fovea.cache<key, 1x2xf32>) attributes {fovea.entry} {
  // expected-error @below {{continues argument 'past' twice, as results 0 and 1}}
  return %c, %c : !fovea.cache<key, 1x2xf32>, !fovea.cache<key, 1x2xf32>
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

// -----

// expected-error @below {{expects row-major tensors as arguments and results, got 'tensor<4x4xf32, #fovea.panels<16>>'}}
func.func @panels_from_a_caller(%w: tensor<4x4xf32, #fovea.panels<16>>) -> tensor<4xf32> attributes {fovea.entry} {
  %0 = arith.constant dense<0.0> : tensor<4xf32>
  return %0 : tensor<4xf32>
}

// -----

fovea.weight @w : tensor<4x4xf32, #fovea.panels<16>> = #fovea.pack<#fovea.stored<"f", "w", tensor<4x4xf32>>, #fovea.panels<16>>
func.func @panels_read_by_what_does_not_know_them() -> tensor<4x4xf32> attributes {fovea.entry} {
  %w = fovea.weight_ref @w : tensor<4x4xf32, #fovea.panels<16>>
  // expected-error @below {{expects a row-major tensor as operand 0, got 'tensor<4x4xf32, #fovea.panels<16>>'}}
  %0 = tensor.cast %w : tensor<4x4xf32, #fovea.panels<16>> to tensor<4x4xf32>
  return %0 : tensor<4x4xf32>
}

// -----

fovea.weight @w : tensor<4x4xf32, #fovea.panels<16>> = #fovea.pack<#fovea.stored<"f", "w", tensor<4x4xf32>>, #fovea.panels<16>>
func.func @panels_as_a_linears_input(%x: tensor<6x4xf32>) -> tensor<4x6xf32> attributes {fovea.entry} {
  %w = fovea.weight_ref @w : tensor<4x4xf32, #fovea.panels<16>>
  %0 = fovea.group(%a = %w, %b = %x) schedule(#fovea.loops<parallel = 2>) : (tensor<4x4xf32, #fovea.panels<16>>, tensor<6x4xf32>) -> tensor<4x6xf32> {
    // expected-error @below {{expects a row-major tensor as operand 0, got 'tensor<4x4xf32, #fovea.panels<16>>'}}
    %i = fovea.linear %a, %b : tensor<4x4xf32, #fovea.panels<16>>, tensor<6x4xf32> -> tensor<4x6xf32>
    fovea.yield %i : tensor<4x6xf32>
  }
  return %0 : tensor<4x6xf32>
}

// -----

func.func @panels_made_by_a_group(%x: tensor<4x4xf32>) attributes {fovea.entry} {
  %0 = fovea.group(%a = %x) schedule(#fovea.loops<parallel = 2>) : (tensor<4x4xf32>) -> tensor<4x4xf32, #fovea.panels<16>> {
    // expected-error @below {{expects only weights to have an encoding, got a result of type 'tensor<4x4xf32, #fovea.panels<16>>'}}
    %i = tensor.cast %a : tensor<4x4xf32> to tensor<4x4xf32, #fovea.panels<16>>
    fovea.yield %i : tensor<4x4xf32, #fovea.panels<16>>
  }
  return
}

// -----

func.func @tiles_of_additive_scores(%q: tensor<?x?x2x8xf32> {fovea.name = "q"}, %w: tensor<8xf32> {fovea.name = "w"}) -> (tensor<?x?x2x8xf32> {fovea.name = "o"}) attributes {fovea.entry} {
  %0 = fovea.group(%a = %q, %b = %w) schedule(#fovea.attention_tiles<queries = 16, keys = 32, axis = queries, scores = [4, 16], values = [4, 16]>) : (tensor<?x?x2x8xf32>, tensor<8xf32>) -> tensor<?x?x2x8xf32> {
    // expected-error @below {{expects a schedule of plain loops: no tile program computes this form}}
    %o = fovea.attention %a, %a, %a additive(%b : tensor<8xf32>) : tensor<?x?x2x8xf32>, tensor<?x?x2x8xf32>, tensor<?x?x2x8xf32> -> tensor<?x?x2x8xf32>
    fovea.yield %o : tensor<?x?x2x8xf32>
  }
  return %0 : tensor<?x?x2x8xf32>
}

// -----

func.func @heads_of_many_queries(%q: tensor<?x?x2x8xf32> {fovea.name = "q"}) -> (tensor<?x?x2x8xf32> {fovea.name = "o"}) attributes {fovea.entry} {
  %0 = fovea.group(%a = %q) schedule(#fovea.attention_tiles<queries = 16, keys = 32, axis = heads, scores = [4, 16], values = [4, 16]>) : (tensor<?x?x2x8xf32>) -> tensor<?x?x2x8xf32> {
    // expected-error @below {{expects one query for a schedule of heads, got 'tensor<?x?x2x8xf32>'}}
    %o = fovea.attention %a, %a, %a : tensor<?x?x2x8xf32>, tensor<?x?x2x8xf32>, tensor<?x?x2x8xf32> -> tensor<?x?x2x8xf32>
    fovea.yield %o : tensor<?x?x2x8xf32>
  }
  return %0 : tensor<?x?x2x8xf32>
}

// -----

// expected-error @below {{expects elements that are floats, integers or indices, got 'tensor<2xcomplex<f32>>'}}
func.func @complex(%x: tensor<2xcomplex<f32>>) -> tensor<2xcomplex<f32>> attributes {fovea.entry} {
  return %x : tensor<2xcomplex<f32>>
}
