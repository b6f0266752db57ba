// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Multi-head attention (Vaswani et al. 2017, section 3.2.2): several small attentions beside each other, each with projections of its own.
//
//     Q = x Wq^T + bq,  K = x Wk^T + bk,  V = x Wv^T + bv         [words, 8] each
//     head[h] = softmax(Q[:,h] K[:,h]^T / sqrt(4)) V[:,h]         [:,h] is the h-th of two pieces of four columns
//     y = concat(head[0], head[1]) Wo^T + bo
//
// To cut columns into heads is to see [words, 8] as [words, 2, 4]: a change of shape that moves nothing. A `fovea.weight` is a
// name for a tensor in a file beside this one (blocks/make_weights.py made it). The file's layers are read when the artifact is written:
// see how the compiler stacks the three projections of x into one product, by their weights' recipe.
//
//   $ fovea inspect examples/blocks/multi-head.mlir | grep fused
//   fused ... x
//   $ fovea compile examples/blocks/multi-head.mlir --emit=graph | grep -o '#fovea.concat<0, #fovea.stored<"weights.safetensors", "attention.query"'
//   #fovea.concat<0, #fovea.stored<"weights.safetensors", "attention.query"
//   $ fovea run examples/blocks/multi-head.mlir --input x=random:1x3x8
//   y: [1, 3, 8] f32
//   ...

!x = tensor<?x?x8xf32>
!heads = tensor<?x?x2x4xf32>
!weight = tensor<8x8xf32>
!bias = tensor<8xf32>

fovea.weight @query : !weight = #fovea.stored<"weights.safetensors", "attention.query", !weight>
fovea.weight @key : !weight = #fovea.stored<"weights.safetensors", "attention.key", !weight>
fovea.weight @value : !weight = #fovea.stored<"weights.safetensors", "attention.value", !weight>
fovea.weight @output : !weight = #fovea.stored<"weights.safetensors", "attention.output", !weight>

// The four biases lie in one tensor of the file; a recipe takes them apart.
#biases = #fovea.stored<"weights.safetensors", "attention.bias", tensor<4x8xf32>>
fovea.weight @query_bias : !bias = #fovea.reshape<#fovea.slice<#biases, 0 from 0 count 1>, [8]>
fovea.weight @key_bias : !bias = #fovea.reshape<#fovea.slice<#biases, 0 from 1 count 1>, [8]>
fovea.weight @value_bias : !bias = #fovea.reshape<#fovea.slice<#biases, 0 from 2 count 1>, [8]>
fovea.weight @output_bias : !bias = #fovea.reshape<#fovea.slice<#biases, 0 from 3 count 1>, [8]>

func.func @forward(%x: !x {fovea.name = "x", fovea.dims = ["batch", "words"]})
    -> (!x {fovea.name = "y", fovea.dims = ["batch", "words"]}) attributes {fovea.entry} {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %batch = tensor.dim %x, %c0 : !x
  %words = tensor.dim %x, %c1 : !x
  %wq = fovea.weight_ref @query : !weight
  %wk = fovea.weight_ref @key : !weight
  %wv = fovea.weight_ref @value : !weight
  %wo = fovea.weight_ref @output : !weight
  %bq = fovea.weight_ref @query_bias : !bias
  %bk = fovea.weight_ref @key_bias : !bias
  %bv = fovea.weight_ref @value_bias : !bias
  %bo = fovea.weight_ref @output_bias : !bias

  %q = fovea.linear %x, %wq bias(%bq : !bias) : !x, !weight -> !x
  %k = fovea.linear %x, %wk bias(%bk : !bias) : !x, !weight -> !x
  %v = fovea.linear %x, %wv bias(%bv : !bias) : !x, !weight -> !x
  %qh = tensor.expand_shape %q [[0], [1], [2, 3]] output_shape [%batch, %words, 2, 4] : !x into !heads
  %kh = tensor.expand_shape %k [[0], [1], [2, 3]] output_shape [%batch, %words, 2, 4] : !x into !heads
  %vh = tensor.expand_shape %v [[0], [1], [2, 3]] output_shape [%batch, %words, 2, 4] : !x into !heads
  %heads = fovea.attention %qh, %kh, %vh scale(0.5) : !heads, !heads, !heads -> !heads
  %together = tensor.collapse_shape %heads [[0], [1], [2, 3]] : !heads into !x
  %y = fovea.linear %together, %wo bias(%bo : !bias) : !x, !weight -> !x
  return %y : !x
}
