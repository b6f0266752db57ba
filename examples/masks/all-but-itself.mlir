// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Masks are put together by and, or, not. Here: what went before, but not the word itself (Reformer, Kitaev et al. 2020,
// section 2: with shared queries and keys a word would otherwise attend to itself above all).
//
//     allowed(i, j) = j <= i  and  not (i <= j <= i)
//
// The first word may see nothing. What then comes out is `fill`, here the default: zero.
//
//   $ fovea inspect examples/masks/all-but-itself.mlir | grep fused
//   fused ... causal, window ... x
//   $ fovea run examples/masks/all-but-itself.mlir --entry mask
//   mask: [1, 1, 4, 4] bool
//     [[[[0, 0, 0, 0],
//        [1, 0, 0, 0],
//        [1, 1, 0, 0],
//        [1, 1, 1, 0]]]]
//   $ fovea run examples/masks/all-but-itself.mlir --input qk=random:1x3x1x2 --input 'v=[[[[1,0]], [[0,1]], [[1,1]]]]'
//   output: [1, 3, 1, 2] f32
//     [[[[0.0000, 0.0000]],
//       [[1.0000, 0.0000]],
//   ...

func.func @forward(%qk: tensor<?x?x1x2xf32> {fovea.name = "qk", fovea.dims = ["batch", "words"]},
                   %v: tensor<?x?x1x2xf32> {fovea.name = "v", fovea.dims = ["batch", "words"]})
    -> (tensor<?x?x1x2xf32> {fovea.name = "output", fovea.dims = ["batch", "words"]})
    attributes {fovea.entry} {
  %causal = fovea.mask_causal
  %itself = fovea.mask_window left(0) right(0)
  %others = fovea.mask_not %itself
  %mask = fovea.mask_and(%causal, %others)
  %o = fovea.attention %qk, %qk, %v mask(%mask) scale(0.70710678118654752)
      : tensor<?x?x1x2xf32>, tensor<?x?x1x2xf32>, tensor<?x?x1x2xf32> -> tensor<?x?x1x2xf32>
  return %o : tensor<?x?x1x2xf32>
}

func.func @mask() -> (tensor<1x1x4x4xi1> {fovea.name = "mask"}) attributes {fovea.entry} {
  %causal = fovea.mask_causal
  %itself = fovea.mask_window left(0) right(0)
  %others = fovea.mask_not %itself
  %mask = fovea.mask_and(%causal, %others)
  %t = fovea.mask_materialize %mask [] : tensor<1x1x4x4xi1>
  return %t : tensor<1x1x4x4xi1>
}
