// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// A block of a Llama (Touvron et al. 2023): RMSNorm in front, rotary positions, grouped heads, a cache, a gated MLP.
//
//     q = rope(Wq n),  k = rope(Wk n),  v = Wv n              n = RMSNorm(x); two query heads share one head of k and v
//     K = [K; k],  V = [V; v]                                 what the cache holds, and the new words
//     y = x + Wo softmax(q K^T / sqrt(4), causal) V
//     z = y + Wdown (silu(Wgate m) * Wup m)                   m = RMSNorm(y)
//
// Grouped heads (Ainslie et al. 2023) make the cache smaller: here by half. Heads are not repeated in memory; query head h reads
// key head h / 2. Three entries call one @block: `forward` reads a text, `prefill` a prompt with caches, `decode` one word more.
//
//   $ fovea inspect examples/blocks/llama.mlir | grep fused
//   fused ... causal ... x
//   $ fovea run examples/blocks/llama.mlir --input x=random:1x3x8
//   z: [1, 3, 8] f32
//   ...
//   $ fovea run examples/blocks/llama.mlir --entry prefill --input x=random:1x3x8
//   z: [1, 3, 8] f32
//   ...
//
// The caches have the text that was read before, so one word more costs one word's work. The word after the three, whose entry is `decode`:
//
//   $ fovea run examples/blocks/llama.mlir --entry prefill --entry decode --input x=random:1x3x8 --input 'x=[[[1,0,0,0,0,0,0,1]]]'
//   z: [1, 1, 8] f32
//   ...
//   $ fovea verify examples/blocks/llama.mlir 2>&1 | sed -n '$p'
//   27 outputs agree

!x = tensor<?x?x8xf32>
!one = tensor<?x1x8xf32>
!wide = tensor<?x?x16xf32>
!weight = tensor<8x8xf32>
!grouped = tensor<4x8xf32>
!up = tensor<16x8xf32>
!down = tensor<8x16xf32>
!norm = tensor<8xf32>
!keys = !fovea.cache<key, 1x4xf32>
!values = !fovea.cache<value, 1x4xf32>

fovea.weight @norm1 : !norm = #fovea.stored<"weights.safetensors", "norm1", !norm>
fovea.weight @query : !weight = #fovea.stored<"weights.safetensors", "attention.query", !weight>
fovea.weight @key : !grouped = #fovea.stored<"weights.safetensors", "grouped.key", !grouped>
fovea.weight @value : !grouped = #fovea.stored<"weights.safetensors", "grouped.value", !grouped>
fovea.weight @output : !weight = #fovea.stored<"weights.safetensors", "attention.output", !weight>
fovea.weight @norm2 : !norm = #fovea.stored<"weights.safetensors", "norm2", !norm>
fovea.weight @gate : !up = #fovea.stored<"weights.safetensors", "mlp.gate", !up>
fovea.weight @up : !up = #fovea.stored<"weights.safetensors", "mlp.up", !up>
fovea.weight @down : !down = #fovea.stored<"weights.safetensors", "mlp.down", !down>

func.func @forward(%x: !x {fovea.name = "x", fovea.dims = ["batch", "words"]})
    -> (!x {fovea.name = "z", fovea.dims = ["batch", "words"]}) attributes {fovea.entry} {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %batch = tensor.dim %x, %c0 : !x
  %words = tensor.dim %x, %c1 : !x
  %keys = fovea.cache_create %batch, %words : !keys
  %values = fovea.cache_create %batch, %words : !values
  %z:3 = call @block(%x, %keys, %values) : (!x, !keys, !values) -> (!x, !keys, !values)
  return %z#0 : !x
}

func.func @prefill(%x: !x {fovea.name = "x", fovea.dims = ["batch", "words"]}, %keys: !keys {fovea.name = "keys"}, %values: !values {fovea.name = "values"})
    -> (!x {fovea.name = "z", fovea.dims = ["batch", "words"]}, !keys {fovea.name = "keys"}, !values {fovea.name = "values"})
    attributes {fovea.entry, fovea.max_positions = 64 : i64} {
  %z:3 = call @block(%x, %keys, %values) : (!x, !keys, !values) -> (!x, !keys, !values)
  return %z#0, %z#1, %z#2 : !x, !keys, !values
}

func.func @decode(%x: !one {fovea.name = "x", fovea.dims = ["batch"]}, %keys: !keys {fovea.name = "keys"}, %values: !values {fovea.name = "values"})
    -> (!one {fovea.name = "z", fovea.dims = ["batch"]}, !keys {fovea.name = "keys"}, !values {fovea.name = "values"})
    attributes {fovea.entry, fovea.max_positions = 64 : i64} {
  %any = tensor.cast %x : !one to !x
  %z:3 = call @block(%any, %keys, %values) : (!x, !keys, !values) -> (!x, !keys, !values)
  %last = tensor.cast %z#0 : !x to !one
  return %last, %z#1, %z#2 : !one, !keys, !values
}

func.func private @block(%x: !x, %keys: !keys, %values: !values) -> (!x, !keys, !values) {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %batch = tensor.dim %x, %c0 : !x
  %words = tensor.dim %x, %c1 : !x
  %n1 = fovea.weight_ref @norm1 : !norm
  %wq = fovea.weight_ref @query : !weight
  %wk = fovea.weight_ref @key : !grouped
  %wv = fovea.weight_ref @value : !grouped
  %wo = fovea.weight_ref @output : !weight
  %n2 = fovea.weight_ref @norm2 : !norm
  %wg = fovea.weight_ref @gate : !up
  %wu = fovea.weight_ref @up : !up
  %wd = fovea.weight_ref @down : !down

  %n = fovea.rms_norm %x weight(%n1 : !norm) eps(1.0e-5) : !x
  %q = fovea.linear %n, %wq : !x, !weight -> !x
  %k = fovea.linear %n, %wk : !x, !grouped -> tensor<?x?x4xf32>
  %v = fovea.linear %n, %wv : !x, !grouped -> tensor<?x?x4xf32>
  %qh = tensor.expand_shape %q [[0], [1], [2, 3]] output_shape [%batch, %words, 2, 4] : !x into tensor<?x?x2x4xf32>
  %kh = tensor.expand_shape %k [[0], [1], [2, 3]] output_shape [%batch, %words, 1, 4] : tensor<?x?x4xf32> into tensor<?x?x1x4xf32>
  %vh = tensor.expand_shape %v [[0], [1], [2, 3]] output_shape [%batch, %words, 1, 4] : tensor<?x?x4xf32> into tensor<?x?x1x4xf32>

  // Positions go on where the cache ends.
  %past = fovea.cache_length %keys : !keys
  %positions = fovea.positions from %past count %words : tensor<1x?xi32>
  %rq = fovea.rope half %qh at(%positions : tensor<1x?xi32>) dim(4) theta(10000.0) : tensor<?x?x2x4xf32>
  %rk = fovea.rope half %kh at(%positions : tensor<1x?xi32>) dim(4) theta(10000.0) : tensor<?x?x1x4xf32>
  %more_keys = fovea.cache_append %keys, %rk : !keys, tensor<?x?x1x4xf32>
  %more_values = fovea.cache_append %values, %vh : !values, tensor<?x?x1x4xf32>
  %causal = fovea.mask_causal
  %a = fovea.attention %rq, %more_keys, %more_values q_pos(%positions : tensor<1x?xi32>) mask(%causal) scale(0.5)
      : tensor<?x?x2x4xf32>, !keys, !values -> tensor<?x?x2x4xf32>
  %together = tensor.collapse_shape %a [[0], [1], [2, 3]] : tensor<?x?x2x4xf32> into !x
  %o = fovea.linear %together, %wo : !x, !weight -> !x
  %y = arith.addf %x, %o : !x

  %m = fovea.rms_norm %y weight(%n2 : !norm) eps(1.0e-5) : !x
  %gate = fovea.linear %m, %wg : !x, !up -> !wide
  %up = fovea.linear %m, %wu : !x, !up -> !wide
  %wide = fovea.glu silu %gate, %up : !wide
  %down = fovea.linear %wide, %wd : !wide, !down -> !x
  %z = arith.addf %y, %down : !x
  return %z, %more_keys, %more_values : !x, !keys, !values
}
