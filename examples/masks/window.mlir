// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// A sliding window: a word sees itself and the W - 1 words before it (Mistral), here W = 3.
//
//     allowed(i, j) = i - 2 <= j <= i
//
// The work grows with words times W, not with words squared: blocks of keys outside of the window are not computed.
// Leave `right` out of the op and words see all that follows; leave `left` out, and all that went before.
//
//   $ fovea inspect examples/masks/window.mlir | grep fused
//   fused ... window, causal ... x
//   $ fovea run examples/masks/window.mlir --entry mask
//   mask: [1, 1, 6, 6] bool
//     [[[[1, 0, 0, 0, 0, 0],
//        [1, 1, 0, 0, 0, 0],
//        [1, 1, 1, 0, 0, 0],
//        [0, 1, 1, 1, 0, 0],
//        [0, 0, 1, 1, 1, 0],
//        [0, 0, 0, 1, 1, 1]]]]
//   $ fovea run examples/masks/window.mlir --input q=random:1x6x2x4 --input k=random:1x6x2x4 --input v=random:1x6x2x4
//   output: [1, 6, 2, 4] f32
//   ...

func.func @forward(%q: tensor<?x?x2x4xf32> {fovea.name = "q", fovea.dims = ["batch", "words"]},
                   %k: tensor<?x?x2x4xf32> {fovea.name = "k", fovea.dims = ["batch", "words"]},
                   %v: tensor<?x?x2x4xf32> {fovea.name = "v", fovea.dims = ["batch", "words"]})
    -> (tensor<?x?x2x4xf32> {fovea.name = "output", fovea.dims = ["batch", "words"]})
    attributes {fovea.entry} {
  %window = fovea.mask_window left(2) right(0)
  %o = fovea.attention %q, %k, %v mask(%window) scale(0.5)
      : tensor<?x?x2x4xf32>, tensor<?x?x2x4xf32>, tensor<?x?x2x4xf32> -> tensor<?x?x2x4xf32>
  return %o : tensor<?x?x2x4xf32>
}

func.func @mask() -> (tensor<1x1x6x6xi1> {fovea.name = "mask"}) attributes {fovea.entry} {
  %window = fovea.mask_window left(2) right(0)
  %t = fovea.mask_materialize %window [] : tensor<1x1x6x6xi1>
  return %t : tensor<1x1x6x6xi1>
}
