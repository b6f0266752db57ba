// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// The prefix mask: a prompt whose words all see each other, then text that sees only what went before
// (Raffel et al. 2020, figure 3, "prefix LM"; PaliGemma). Here the first three words are the prompt.
//
//     allowed(b, i, j) = j <= i  or  j < lengths[b]
//
//   $ fovea inspect examples/masks/prefix.mlir | grep fused
//   fused ... prefix ... x
//   $ fovea run examples/masks/prefix.mlir --entry mask --input 'lengths=[3]'
//   mask: [1, 1, 6, 6] bool
//     [[[[1, 1, 1, 0, 0, 0],
//        [1, 1, 1, 0, 0, 0],
//        [1, 1, 1, 0, 0, 0],
//        [1, 1, 1, 1, 0, 0],
//        [1, 1, 1, 1, 1, 0],
//        [1, 1, 1, 1, 1, 1]]]]
//   $ fovea run examples/masks/prefix.mlir --input 'lengths=[3]' --input q=random:1x6x2x4 --input k=random:1x6x2x4 --input v=random:1x6x2x4
//   output: [1, 6, 2, 4] f32
//   ...

func.func @forward(%q: tensor<?x?x2x4xf32> {fovea.name = "q", fovea.dims = ["batch", "words"]},
                   %k: tensor<?x?x2x4xf32> {fovea.name = "k", fovea.dims = ["batch", "words"]},
                   %v: tensor<?x?x2x4xf32> {fovea.name = "v", fovea.dims = ["batch", "words"]},
                   %lengths: tensor<?xi32> {fovea.name = "lengths", fovea.dims = ["batch"]})
    -> (tensor<?x?x2x4xf32> {fovea.name = "output", fovea.dims = ["batch", "words"]})
    attributes {fovea.entry} {
  %prefix = fovea.mask_prefix %lengths : tensor<?xi32>
  %o = fovea.attention %q, %k, %v mask(%prefix) scale(0.5)
      : tensor<?x?x2x4xf32>, tensor<?x?x2x4xf32>, tensor<?x?x2x4xf32> -> tensor<?x?x2x4xf32>
  return %o : tensor<?x?x2x4xf32>
}

func.func @mask(%lengths: tensor<1xi32> {fovea.name = "lengths"}) -> (tensor<1x1x6x6xi1> {fovea.name = "mask"}) attributes {fovea.entry} {
  %prefix = fovea.mask_prefix %lengths : tensor<1xi32>
  %t = fovea.mask_materialize %prefix [] : tensor<1x1x6x6xi1>
  return %t : tensor<1x1x6x6xi1>
}
