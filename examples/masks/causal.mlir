// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// The causal mask: a word sees itself and what stands before it.
//
//     allowed(i, j) = j <= i
//     p[i,:] = softmax over the allowed j of q[i] . k[j] / sqrt(D)            here D = 4
//
// Entry `forward` spells it as most programs do: scores of later words become minus infinity, whose exp is 0.
// The compiler turns that into a predicate on positions. No matrix of a mask is made or read, and blocks of
// keys that lie wholly in the future are not computed. It also notes what a row without any key would give (masks/fills.mlir).
//
//   $ fovea inspect examples/masks/causal.mlir | grep fused
//   fused ... causal ... x
//   $ fovea compile examples/masks/causal.mlir --emit=graph | sed -n '/@forward/,/^  }/p' | grep -oE 'fovea.mask_[a-z]+|fill.[a-z]+.'
//   fovea.mask_causal
//   fill(nan)
//
// Entry `mask` shows the predicate as a matrix of six words by six: a row is what a word sees.
//
//   $ fovea run examples/masks/causal.mlir --entry mask
//   mask: [1, 1, 6, 6] bool
//     [[[[1, 0, 0, 0, 0, 0],
//        [1, 1, 0, 0, 0, 0],
//        [1, 1, 1, 0, 0, 0],
//        [1, 1, 1, 1, 0, 0],
//        [1, 1, 1, 1, 1, 0],
//        [1, 1, 1, 1, 1, 1]]]]
//
// The first word sees itself alone, so its output is its own value:
//
//   $ fovea run examples/masks/causal.mlir --input q=random:3x4 --input k=random:3x4 --input 'v=[[1,0,0,0], [0,1,0,0], [0,0,1,0]]'
//   output: [3, 4] f32
//     [[1.0000, 0.0000, 0.0000, 0.0000],
//   ...

#query = affine_map<(i, j, d) -> (i, d)>
#key = affine_map<(i, j, d) -> (j, d)>
#pair = affine_map<(i, j, d) -> (i, j)>
#id = affine_map<(i, j) -> (i, j)>

func.func @forward(%q: tensor<?x4xf32> {fovea.name = "q", fovea.dims = ["words"]},
                   %k: tensor<?x4xf32> {fovea.name = "k", fovea.dims = ["words"]},
                   %v: tensor<?x4xf32> {fovea.name = "v", fovea.dims = ["words"]})
    -> (tensor<?x4xf32> {fovea.name = "output", fovea.dims = ["words"]})
    attributes {fovea.entry} {
  %c0 = arith.constant 0 : index
  %zero = arith.constant 0.0 : f32
  %words = tensor.dim %q, %c0 : tensor<?x4xf32>

  %matrix = tensor.empty(%words, %words) : tensor<?x?xf32>
  %matrix_zero = linalg.fill ins(%zero : f32) outs(%matrix : tensor<?x?xf32>) -> tensor<?x?xf32>
  %products = linalg.contract indexing_maps = [#query, #key, #pair]
      ins(%q, %k : tensor<?x4xf32>, tensor<?x4xf32>) outs(%matrix_zero : tensor<?x?xf32>) -> tensor<?x?xf32>

  // where(j <= i, x / sqrt(4), -infinity)
  %masked = linalg.generic {indexing_maps = [#id, #id], iterator_types = ["parallel", "parallel"]}
      ins(%products : tensor<?x?xf32>) outs(%matrix : tensor<?x?xf32>) {
  ^bb0(%product: f32, %unused: f32):
    %scale = arith.constant 0.5 : f32
    %never = arith.constant 0xFF800000 : f32 // -infinity
    %i = linalg.index 0 : index
    %j = linalg.index 1 : index
    %allowed = arith.cmpi sle, %j, %i : index
    %x = arith.mulf %product, %scale : f32
    %y = arith.select %allowed, %x, %never : f32
    linalg.yield %y : f32
  } -> tensor<?x?xf32>

  %p = linalg.softmax dimension(1) ins(%masked : tensor<?x?xf32>) outs(%matrix : tensor<?x?xf32>) -> tensor<?x?xf32>
  %output = tensor.empty(%words) : tensor<?x4xf32>
  %output_zero = linalg.fill ins(%zero : f32) outs(%output : tensor<?x4xf32>) -> tensor<?x4xf32>
  %o = linalg.matmul ins(%p, %v : tensor<?x?xf32>, tensor<?x4xf32>) outs(%output_zero : tensor<?x4xf32>) -> tensor<?x4xf32>
  return %o : tensor<?x4xf32>
}

func.func @mask() -> (tensor<1x1x6x6xi1> {fovea.name = "mask"}) attributes {fovea.entry} {
  %causal = fovea.mask_causal
  %t = fovea.mask_materialize %causal [] : tensor<1x1x6x6xi1>
  return %t : tensor<1x1x6x6xi1>
}
