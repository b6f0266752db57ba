// A decoder that counts: "one" is followed by "two". Each token looks at those before it by its row
// of the table, which is query, key and value, and finds itself; the head names the next.
fovea.model "Golden" in "." {begin_token = 0 : i64, end_tokens = array<i64: 1>, max_positions = 32 : i64, tokenizer = "tokenizer.json", vocabulary = 8 : i64}
fovea.weight @table : tensor<8x4xf32> = #fovea.stored<"model.safetensors", "table", tensor<8x4xf32>>
fovea.weight @head : tensor<8x4xf32> = #fovea.stored<"model.safetensors", "head", tensor<8x4xf32>>
func.func @prefill(%input_ids: tensor<?x?xi64> {fovea.dims = ["batch", "sequence"], fovea.name = "input_ids"},
                   %keys: !fovea.cache<key, 1x4xf32> {fovea.dims = ["batch", "capacity"], fovea.name = "key_cache.0"},
                   %values: !fovea.cache<value, 1x4xf32> {fovea.dims = ["batch", "capacity"], fovea.name = "value_cache.0"})
    -> (tensor<?x8xf32> {fovea.dims = ["batch"], fovea.name = "logits"},
        !fovea.cache<key, 1x4xf32> {fovea.dims = ["batch", "capacity"], fovea.name = "key_cache.0"},
        !fovea.cache<value, 1x4xf32> {fovea.dims = ["batch", "capacity"], fovea.name = "value_cache.0"})
    attributes {fovea.entry, fovea.max_positions = 32 : i64} {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %table = fovea.weight_ref @table : tensor<8x4xf32>
  %next = fovea.weight_ref @head : tensor<8x4xf32>
  %x = fovea.embedding %input_ids, %table : tensor<?x?xi64>, tensor<8x4xf32> -> tensor<?x?x4xf32>
  %batch = tensor.dim %x, %c0 : tensor<?x?x4xf32>
  %count = tensor.dim %x, %c1 : tensor<?x?x4xf32>
  %head = tensor.expand_shape %x [[0], [1], [2, 3]] output_shape [%batch, %count, 1, 4] : tensor<?x?x4xf32> into tensor<?x?x1x4xf32>
  %length = fovea.cache_length %keys : <key, 1x4xf32>
  %places = fovea.positions from %length count %count : tensor<1x?xi32>
  %mask = fovea.mask_causal
  %k = fovea.cache_append %keys, %head : <key, 1x4xf32>, tensor<?x?x1x4xf32>
  %v = fovea.cache_append %values, %head : <value, 1x4xf32>, tensor<?x?x1x4xf32>
  %seen = fovea.attention %head, %k, %v q_pos(%places : tensor<1x?xi32>) mask(%mask) scale(5.000000e-01)
      : tensor<?x?x1x4xf32>, !fovea.cache<key, 1x4xf32>, !fovea.cache<value, 1x4xf32> -> tensor<?x?x1x4xf32>
  %rows = tensor.collapse_shape %seen [[0], [1], [2, 3]] : tensor<?x?x1x4xf32> into tensor<?x?x4xf32>
  %last = fovea.pool last %rows : tensor<?x?x4xf32> -> tensor<?x4xf32>
  %logits = fovea.linear %last, %next : tensor<?x4xf32>, tensor<8x4xf32> -> tensor<?x8xf32>
  return %logits, %k, %v : tensor<?x8xf32>, !fovea.cache<key, 1x4xf32>, !fovea.cache<value, 1x4xf32>
}
