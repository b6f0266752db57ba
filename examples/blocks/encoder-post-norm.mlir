// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// An encoder block as in the first Transformer, "post-norm" (Vaswani et al. 2017, section 3.1): the norm stands behind each sum.
//
//     y = LayerNorm(x + MultiHead(x))
//     z = LayerNorm(y + Wdown relu(Wup y))                    x, y, z: [words, 8], inside 16; two heads of 4
//
// `attention_mask` is 1 for words and 0 for padding, as tokenizers give it. Biases and the norms' weights are left out (blocks/multi-head.mlir
// has some); blocks/encoder-pre-norm.mlir has the same parts in the other order.
//
//   $ fovea inspect examples/blocks/encoder-post-norm.mlir | grep fused
//   fused ... dense ... x
//   $ fovea run examples/blocks/encoder-post-norm.mlir --input x=random:1x3x8 --input 'attention_mask=[[1, 1, 0]]'
//   z: [1, 3, 8] f32
//   ...
//
// Of all that stands below, seven kernels run: the three projections are one product, ReLU and the sums are the ends of theirs. Attention is
// compiled for one query, for few and for many, and with its keys in parts (with the vectors of AVX-512; others need fewer); a call takes one
// of these.
//
//   $ fovea inspect examples/blocks/encoder-post-norm.mlir --target=x86-64-v4 | grep -E '^entry|^ +[0-9]+ x'
//   entry forward (11 steps)
//          1 x linear_0: linear [24, 8] f32, ...
//          1 x attention_0: attention 2/2 x 4, ...
//          1 x attention_merge_0: attention 2/2 x 4, ...
//          1 x attention_1: attention 2/2 x 4, ...
//          1 x attention_merge_1: attention 2/2 x 4, ...
//          1 x attention_2: attention 2/2 x 4, ...
//          1 x linear_1: linear [8, 8] f32 + arith.addf, ...
//          2 x layer_norm_0: layer_norm, ...
//          1 x linear_2: linear [16, 8] f32 + activation relu, ...
//          1 x linear_3: linear [8, 16] f32 + arith.addf, ...

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
fovea.weight @up : !up = #fovea.stored<"weights.safetensors", "mlp.up", !up>
fovea.weight @down : !down = #fovea.stored<"weights.safetensors", "mlp.down", !down>

func.func @forward(%x: !x {fovea.name = "x", fovea.dims = ["batch", "words"]}, %attention_mask: !mask {fovea.name = "attention_mask", fovea.dims = ["batch", "words"]})
    -> (!x {fovea.name = "z", fovea.dims = ["batch", "words"]}) attributes {fovea.entry} {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %batch = tensor.dim %x, %c0 : !x
  %words = tensor.dim %x, %c1 : !x

  // MultiHead(x)
  %wq = fovea.weight_ref @query : !weight
  %wk = fovea.weight_ref @key : !weight
  %wv = fovea.weight_ref @value : !weight
  %wo = fovea.weight_ref @output : !weight
  %q = fovea.linear %x, %wq : !x, !weight -> !x
  %k = fovea.linear %x, %wk : !x, !weight -> !x
  %v = fovea.linear %x, %wv : !x, !weight -> !x
  %qh = tensor.expand_shape %q [[0], [1], [2, 3]] output_shape [%batch, %words, 2, 4] : !x into !heads
  %kh = tensor.expand_shape %k [[0], [1], [2, 3]] output_shape [%batch, %words, 2, 4] : !x into !heads
  %vh = tensor.expand_shape %v [[0], [1], [2, 3]] output_shape [%batch, %words, 2, 4] : !x into !heads
  // [batch, words] counts for all heads and all queries: [batch, 1, 1, words].
  %keep = tensor.expand_shape %attention_mask [[0], [1, 2, 3]] output_shape [%batch, 1, 1, %words] : !mask into tensor<?x1x1x?xi64>
  %mask = fovea.mask_dense %keep : tensor<?x1x1x?xi64>
  %o = fovea.attention %qh, %kh, %vh mask(%mask) scale(0.5) : !heads, !heads, !heads -> !heads
  %together = tensor.collapse_shape %o [[0], [1], [2, 3]] : !heads into !x
  %a = fovea.linear %together, %wo : !x, !weight -> !x
  %xa = arith.addf %x, %a : !x
  %y = fovea.layer_norm %xa eps(1.0e-5) : !x

  // Wdown relu(Wup y)
  %wu = fovea.weight_ref @up : !up
  %wd = fovea.weight_ref @down : !down
  %wide = fovea.linear %y, %wu : !x, !up -> !wide
  %bent = fovea.activation relu %wide : !wide
  %m = fovea.linear %bent, %wd : !wide, !down -> !x
  %ym = arith.addf %y, %m : !x
  %z = fovea.layer_norm %ym eps(1.0e-5) : !x
  return %z : !x
}
