// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Global tokens with a window (Longformer, Beltagy et al. 2020, figure 2d; BigBird): each word sees its neighbours; the first
// token sees all and is seen by all. One of two masks has to allow a key.
//
//     allowed(i, j) = (i - 1 <= j <= i + 1)  or  j < 1  or  i < 1
//
//   $ fovea inspect examples/masks/global.mlir | grep fused
//   fused ... window, global ... x
//   $ fovea run examples/masks/global.mlir --entry mask
//   mask: [1, 1, 6, 6] bool
//     [[[[1, 1, 1, 1, 1, 1],
//        [1, 1, 1, 0, 0, 0],
//        [1, 1, 1, 1, 0, 0],
//        [1, 0, 1, 1, 1, 0],
//        [1, 0, 0, 1, 1, 1],
//        [1, 0, 0, 0, 1, 1]]]]
//   $ fovea run examples/masks/global.mlir --input q=random:1x6x2x4 --input k=random:1x6x2x4 --input v=random:1x6x2x4
//   output: [1, 6, 2, 4] f32
//   ...

func.func @forward(%q: tensor<?x?x2x4xf32> {fovea.name = "q", fovea.dims = ["batch", "words"]},
                   %k: tensor<?x?x2x4xf32> {fovea.name = "k", fovea.dims = ["batch", "words"]},
                   %v: tensor<?x?x2x4xf32> {fovea.name = "v", fovea.dims = ["batch", "words"]})
    -> (tensor<?x?x2x4xf32> {fovea.name = "output", fovea.dims = ["batch", "words"]})
    attributes {fovea.entry} {
  %near = fovea.mask_window left(1) right(1)
  %global = fovea.mask_global tokens(1)
  %either = fovea.mask_or(%near, %global)
  %o = fovea.attention %q, %k, %v mask(%either) scale(0.5)
      : tensor<?x?x2x4xf32>, tensor<?x?x2x4xf32>, tensor<?x?x2x4xf32> -> tensor<?x?x2x4xf32>
  return %o : tensor<?x?x2x4xf32>
}

func.func @mask() -> (tensor<1x1x6x6xi1> {fovea.name = "mask"}) attributes {fovea.entry} {
  %near = fovea.mask_window left(1) right(1)
  %global = fovea.mask_global tokens(1)
  %either = fovea.mask_or(%near, %global)
  %t = fovea.mask_materialize %either [] : tensor<1x1x6x6xi1>
  return %t : tensor<1x1x6x6xi1>
}
