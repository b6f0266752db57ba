// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Learned positions (BERT, GPT-2): a table with a trained vector for each place. Beyond its end there is nothing to look up,
// so such a model has a longest text; here six words.
//
//     y[pos] = x[pos] + table[pos];   q = k = v = y
//
// Three words that are all zero come out as mixtures of the table's rows, so places are all that tells them apart:
//
//   $ fovea run examples/positions/learned.mlir --input 'x=[[[0,0], [0,0], [0,0]]]' --input 'table=[[0,0], [0,4], [4,0], [4,4], [8,0], [8,4]]'
//   output: [1, 3, 1, 2] f32
//     [[[[1.3333, 1.3333]],
//       [[0.0000, 3.9999]],
//       [[3.9999, 0.0000]]]]
//   $ fovea run examples/positions/learned.mlir --input x=random:1x7x2 --input table=random:6x2
//   # exit code 1
//   fovea: error: entry 'forward': kernel 'position_learned_0' (learned.mlir:...) met an index or a size out of bounds
//   $ fovea inspect examples/positions/learned.mlir | grep fused
//   fused ... x

#element = affine_map<(b, s, d) -> (b, s, d)>
#position = affine_map<(b, s, d) -> (0, s, d)>

func.func @forward(%x: tensor<?x?x2xf32> {fovea.name = "x", fovea.dims = ["batch", "words"]},
                   %table: tensor<6x2xf32> {fovea.name = "table"})
    -> (tensor<?x?x1x2xf32> {fovea.name = "output", fovea.dims = ["batch", "words"]})
    attributes {fovea.entry} {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %batch = tensor.dim %x, %c0 : tensor<?x?x2xf32>
  %words = tensor.dim %x, %c1 : tensor<?x?x2xf32>

  %pos = fovea.positions from %c0 count %words : tensor<1x?xi32>
  %e = fovea.position_learned %pos, %table : tensor<1x?xi32>, tensor<6x2xf32> -> tensor<1x?x2xf32>
  %empty = tensor.empty(%batch, %words) : tensor<?x?x2xf32>
  %y = linalg.generic {indexing_maps = [#element, #position, #element], iterator_types = ["parallel", "parallel", "parallel"]}
      ins(%x, %e : tensor<?x?x2xf32>, tensor<1x?x2xf32>) outs(%empty : tensor<?x?x2xf32>) {
  ^bb0(%word: f32, %place: f32, %unused: f32):
    %sum = arith.addf %word, %place : f32
    linalg.yield %sum : f32
  } -> tensor<?x?x2xf32>

  // One head of two elements.
  %h = tensor.expand_shape %y [[0], [1], [2, 3]] output_shape [%batch, %words, 1, 2] : tensor<?x?x2xf32> into tensor<?x?x1x2xf32>
  %o = fovea.attention %h, %h, %h scale(0.70710678118654752) : tensor<?x?x1x2xf32>, tensor<?x?x1x2xf32>, tensor<?x?x1x2xf32> -> tensor<?x?x1x2xf32>
  return %o : tensor<?x?x1x2xf32>
}
