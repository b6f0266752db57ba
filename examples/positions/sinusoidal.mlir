// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Sinusoidal positions (Vaswani et al. 2017, section 3.5): softmax(Q K^T) V does not know in which order words stand, so a
// pattern of waves is added to each word, fast ones first; each place gets its own pattern. Here D = 4.
//
//     e[pos, 2i]     = sin(pos / 10000^(2i/D))
//     e[pos, 2i + 1] = cos(pos / 10000^(2i/D))
//     y[pos] = x[pos] + e[pos];   q = k = v = y
//
// Entry `table` shows e for four words:
//
//   $ fovea run examples/positions/sinusoidal.mlir --entry table
//   e: [1, 4, 4] f32
//     [[[ 0.0000,  1.0000,  0.0000,  1.0000],
//       [ 0.8415,  0.5403,  0.0100,  0.9999],
//       [ 0.9093, -0.4161,  0.0200,  0.9998],
//       [ 0.1411, -0.9900,  0.0300,  0.9996]]]
//   $ fovea inspect examples/positions/sinusoidal.mlir | grep fused
//   fused ... x
//   $ fovea run examples/positions/sinusoidal.mlir --input x=random:1x3x4
//   output: [1, 3, 1, 4] f32
//   ...

#element = affine_map<(b, s, d) -> (b, s, d)>
#position = affine_map<(b, s, d) -> (0, s, d)>

func.func @forward(%x: tensor<?x?x4xf32> {fovea.name = "x", fovea.dims = ["batch", "words"]})
    -> (tensor<?x?x1x4xf32> {fovea.name = "output", fovea.dims = ["batch", "words"]})
    attributes {fovea.entry} {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %batch = tensor.dim %x, %c0 : tensor<?x?x4xf32>
  %words = tensor.dim %x, %c1 : tensor<?x?x4xf32>

  %pos = fovea.positions from %c0 count %words : tensor<1x?xi32>
  %e = fovea.position_sinusoidal interleaved %pos theta(10000.0) : tensor<1x?xi32> -> tensor<1x?x4xf32>
  %empty = tensor.empty(%batch, %words) : tensor<?x?x4xf32>
  %y = linalg.generic {indexing_maps = [#element, #position, #element], iterator_types = ["parallel", "parallel", "parallel"]}
      ins(%x, %e : tensor<?x?x4xf32>, tensor<1x?x4xf32>) outs(%empty : tensor<?x?x4xf32>) {
  ^bb0(%word: f32, %wave: f32, %unused: f32):
    %sum = arith.addf %word, %wave : f32
    linalg.yield %sum : f32
  } -> tensor<?x?x4xf32>

  // One head of four elements.
  %h = tensor.expand_shape %y [[0], [1], [2, 3]] output_shape [%batch, %words, 1, 4] : tensor<?x?x4xf32> into tensor<?x?x1x4xf32>
  %o = fovea.attention %h, %h, %h scale(0.5) : tensor<?x?x1x4xf32>, tensor<?x?x1x4xf32>, tensor<?x?x1x4xf32> -> tensor<?x?x1x4xf32>
  return %o : tensor<?x?x1x4xf32>
}

func.func @table() -> (tensor<1x4x4xf32> {fovea.name = "e"}) attributes {fovea.entry} {
  %first = arith.constant 0 : index
  %pos = fovea.positions from %first : tensor<1x4xi32>
  %e = fovea.position_sinusoidal interleaved %pos theta(10000.0) : tensor<1x4xi32> -> tensor<1x4x4xf32>
  return %e : tensor<1x4x4xf32>
}
