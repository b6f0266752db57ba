// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// An encoder block with the norm in front, "pre-norm" (Xiong et al. 2020; GPT-2, ViT): what comes in is added unchanged, so
// there is a straight way from the last block to the first, and deep models train more easily. A last norm stands behind all blocks.
//
//     y = x + MultiHead(LayerNorm(x))
//     z = y + Wdown gelu(Wup LayerNorm(y))                    x, y, z: [words, 8], inside 16; two heads of 4
//
// The same parts as in blocks/encoder-post-norm.mlir in another order, with GELU for ReLU. The norm is spelled out here, and found;
// of all of @norm one op is left:
//
//   $ fovea compile examples/blocks/encoder-pre-norm.mlir --emit=graph | grep -o '= fovea.layer_norm .* eps'
//   = fovea.layer_norm %x eps
//   $ fovea inspect examples/blocks/encoder-pre-norm.mlir | grep fused
//   fused ... dense ... x
//   $ fovea run examples/blocks/encoder-pre-norm.mlir --input x=random:1x3x8 --input 'attention_mask=[[1, 1, 0]]'
//   z: [1, 3, 8] f32
//   ...

#id = affine_map<(b, s, d) -> (b, s, d)>
#row = affine_map<(b, s, d) -> (b, s)>
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

  %xn = call @norm(%x) : (!x) -> !x

  // MultiHead(xn)
  %wq = fovea.weight_ref @query : !weight
  %wk = fovea.weight_ref @key : !weight
  %wv = fovea.weight_ref @value : !weight
  %wo = fovea.weight_ref @output : !weight
  %q = fovea.linear %xn, %wq : !x, !weight -> !x
  %k = fovea.linear %xn, %wk : !x, !weight -> !x
  %v = fovea.linear %xn, %wv : !x, !weight -> !x
  %qh = tensor.expand_shape %q [[0], [1], [2, 3]] output_shape [%batch, %words, 2, 4] : !x into !heads
  %kh = tensor.expand_shape %k [[0], [1], [2, 3]] output_shape [%batch, %words, 2, 4] : !x into !heads
  %vh = tensor.expand_shape %v [[0], [1], [2, 3]] output_shape [%batch, %words, 2, 4] : !x into !heads
  // [batch, words] counts for all heads and all queries: [batch, 1, 1, words].
  %keep = tensor.expand_shape %attention_mask [[0], [1, 2, 3]] output_shape [%batch, 1, 1, %words] : !mask into tensor<?x1x1x?xi64>
  %mask = fovea.mask_dense %keep : tensor<?x1x1x?xi64>
  %o = fovea.attention %qh, %kh, %vh mask(%mask) scale(0.5) : !heads, !heads, !heads -> !heads
  %together = tensor.collapse_shape %o [[0], [1], [2, 3]] : !heads into !x
  %a = fovea.linear %together, %wo : !x, !weight -> !x
  %y = arith.addf %x, %a : !x
  %yn = call @norm(%y) : (!x) -> !x

  // Wdown gelu(Wup yn)
  %wu = fovea.weight_ref @up : !up
  %wd = fovea.weight_ref @down : !down
  %wide = fovea.linear %yn, %wu : !x, !up -> !wide
  %bent = fovea.activation gelu %wide : !wide
  %m = fovea.linear %bent, %wd : !wide, !down -> !x
  %z = arith.addf %y, %m : !x
  return %z : !x
}

// LayerNorm: (x - mean) / sqrt(variance + 1e-5), over the eight numbers of a word.
func.func private @norm(%x: !x) -> !x {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %zero = arith.constant 0.0 : f32
  %batch = tensor.dim %x, %c0 : !x
  %words = tensor.dim %x, %c1 : !x
  %empty = tensor.empty(%batch, %words) : !x
  %rows = tensor.empty(%batch, %words) : tensor<?x?xf32>
  %rows_zero = linalg.fill ins(%zero : f32) outs(%rows : tensor<?x?xf32>) -> tensor<?x?xf32>

  %sum = linalg.reduce {arith.addf} ins(%x : !x) outs(%rows_zero : tensor<?x?xf32>) dimensions = [2]
  %centred = linalg.generic {indexing_maps = [#id, #row, #id], iterator_types = ["parallel", "parallel", "parallel"]}
      ins(%x, %sum : !x, tensor<?x?xf32>) outs(%empty : !x) {
  ^bb0(%number: f32, %all: f32, %unused: f32):
    %eight = arith.constant 8.0 : f32
    %mean = arith.divf %all, %eight : f32
    %d = arith.subf %number, %mean : f32
    linalg.yield %d : f32
  } -> !x
  %squares = arith.mulf %centred, %centred : !x
  %square_sum = linalg.reduce {arith.addf} ins(%squares : !x) outs(%rows_zero : tensor<?x?xf32>) dimensions = [2]
  %normed = linalg.generic {indexing_maps = [#id, #row, #id], iterator_types = ["parallel", "parallel", "parallel"]}
      ins(%centred, %square_sum : !x, tensor<?x?xf32>) outs(%empty : !x) {
  ^bb0(%number: f32, %all: f32, %unused: f32):
    %eight = arith.constant 8.0 : f32
    %eps = arith.constant 1.0e-5 : f32
    %variance = arith.divf %all, %eight : f32
    %safe = arith.addf %variance, %eps : f32
    %deviation = math.sqrt %safe : f32
    %n = arith.divf %number, %deviation : f32
    linalg.yield %n : f32
  } -> !x
  return %normed : !x
}
