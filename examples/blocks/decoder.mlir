// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// A decoder block of the first Transformer (Vaswani et al. 2017, figure 1, right): text that is being written looks at itself, causally, and
// at another text, the memory (what an encoder made of the sentence to translate). Queries come from the one, keys and values from the other.
//
//     y = LayerNorm(x + MultiHead(q: x, k: x, v: x, causal))
//     z = LayerNorm(y + MultiHead(q: y, k: memory, v: memory, no padding))
//     o = LayerNorm(z + Wdown relu(Wup z))
//
//   $ fovea inspect examples/blocks/decoder.mlir | grep fused
//   fused ... causal ... x
//   fused ... dense ... x
//   $ fovea run examples/blocks/decoder.mlir --input x=random:1x2x8 --input memory=random:1x4x8 --input 'memory_mask=[[1, 1, 1, 0]]'
//   o: [1, 2, 8] f32
//   ...

!x = tensor<?x?x8xf32>
!heads = tensor<?x?x2x4xf32>
!wide = tensor<?x?x16xf32>
!weight = tensor<8x8xf32>
!up = tensor<16x8xf32>
!down = tensor<8x16xf32>
!mask = tensor<?x?xi64>

fovea.weight @query : !weight = #fovea.stored<"weights.safetensors", "attention.query", !weight>
fovea.weight @key : !weight = #fovea.stored<"weights.safetensors", "attention.key", !weight>
fovea.weight @value : !weight = #fovea.stored<"weights.safetensors", "attention.value", !weight>
fovea.weight @output : !weight = #fovea.stored<"weights.safetensors", "attention.output", !weight>
fovea.weight @cross_query : !weight = #fovea.stored<"weights.safetensors", "cross.query", !weight>
fovea.weight @cross_key : !weight = #fovea.stored<"weights.safetensors", "cross.key", !weight>
fovea.weight @cross_value : !weight = #fovea.stored<"weights.safetensors", "cross.value", !weight>
fovea.weight @cross_output : !weight = #fovea.stored<"weights.safetensors", "cross.output", !weight>
fovea.weight @up : !up = #fovea.stored<"weights.safetensors", "mlp.up", !up>
fovea.weight @down : !down = #fovea.stored<"weights.safetensors", "mlp.down", !down>

func.func @forward(%x: !x {fovea.name = "x", fovea.dims = ["batch", "words"]}, %memory: !x {fovea.name = "memory", fovea.dims = ["batch", "memory_words"]},
                   %memory_mask: !mask {fovea.name = "memory_mask", fovea.dims = ["batch", "memory_words"]})
    -> (!x {fovea.name = "o", fovea.dims = ["batch", "words"]}) attributes {fovea.entry} {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %batch = tensor.dim %x, %c0 : !x
  %memory_words = tensor.dim %memory, %c1 : !x

  // What the text says to itself.
  %wq = fovea.weight_ref @query : !weight
  %wk = fovea.weight_ref @key : !weight
  %wv = fovea.weight_ref @value : !weight
  %wo = fovea.weight_ref @output : !weight
  %causal = fovea.mask_causal
  %q = call @project(%x, %wq) : (!x, !weight) -> !heads
  %k = call @project(%x, %wk) : (!x, !weight) -> !heads
  %v = call @project(%x, %wv) : (!x, !weight) -> !heads
  %own = fovea.attention %q, %k, %v mask(%causal) scale(0.5) : !heads, !heads, !heads -> !heads
  %own_words = tensor.collapse_shape %own [[0], [1], [2, 3]] : !heads into !x
  %a = fovea.linear %own_words, %wo : !x, !weight -> !x
  %xa = arith.addf %x, %a : !x
  %y = fovea.layer_norm %xa eps(1.0e-5) : !x

  // What the memory says to it.
  %cq = fovea.weight_ref @cross_query : !weight
  %ck = fovea.weight_ref @cross_key : !weight
  %cv = fovea.weight_ref @cross_value : !weight
  %co = fovea.weight_ref @cross_output : !weight
  %keep = tensor.expand_shape %memory_mask [[0], [1, 2, 3]] output_shape [%batch, 1, 1, %memory_words] : !mask into tensor<?x1x1x?xi64>
  %padding = fovea.mask_dense %keep : tensor<?x1x1x?xi64>
  %yq = call @project(%y, %cq) : (!x, !weight) -> !heads
  %mk = call @project(%memory, %ck) : (!x, !weight) -> !heads
  %mv = call @project(%memory, %cv) : (!x, !weight) -> !heads
  %other = fovea.attention %yq, %mk, %mv mask(%padding) scale(0.5) : !heads, !heads, !heads -> !heads
  %other_words = tensor.collapse_shape %other [[0], [1], [2, 3]] : !heads into !x
  %c = fovea.linear %other_words, %co : !x, !weight -> !x
  %yc = arith.addf %y, %c : !x
  %z = fovea.layer_norm %yc eps(1.0e-5) : !x

  %up = fovea.weight_ref @up : !up
  %down = fovea.weight_ref @down : !down
  %wide = fovea.linear %z, %up : !x, !up -> !wide
  %bent = fovea.activation relu %wide : !wide
  %m = fovea.linear %bent, %down : !wide, !down -> !x
  %zm = arith.addf %z, %m : !x
  %o = fovea.layer_norm %zm eps(1.0e-5) : !x
  return %o : !x
}

// A projection, seen as two heads of four.
func.func private @project(%x: !x, %w: !weight) -> !heads {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %batch = tensor.dim %x, %c0 : !x
  %words = tensor.dim %x, %c1 : !x
  %p = fovea.linear %x, %w : !x, !weight -> !x
  %h = tensor.expand_shape %p [[0], [1], [2, 3]] output_shape [%batch, %words, 2, 4] : !x into !heads
  return %h : !heads
}
