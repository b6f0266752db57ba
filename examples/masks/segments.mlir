// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Segments: several documents packed into one row; a word sees only its own document, and there only what
// stands before it. Two masks hold at once.
//
//     allowed(b, i, j) = segment[b, i] == segment[b, j]  and  j <= i
//
// Entry `forward` compares ids and places in plain code; the compiler finds the two masks in it.
//
//   $ fovea inspect examples/masks/segments.mlir | grep fused
//   fused ... segment, causal ... x
//   $ fovea compile examples/masks/segments.mlir --emit=graph | grep -o 'fovea.mask_[a-z]*' | sort -u
//   fovea.mask_and
//   fovea.mask_causal
//   fovea.mask_materialize
//   fovea.mask_segment
//   $ fovea run examples/masks/segments.mlir --entry mask --input 'segment=[[7, 7, 7, 9, 9, 9]]'
//   mask: [1, 1, 6, 6] bool
//     [[[[1, 0, 0, 0, 0, 0],
//        [1, 1, 0, 0, 0, 0],
//        [1, 1, 1, 0, 0, 0],
//        [0, 0, 0, 1, 0, 0],
//        [0, 0, 0, 1, 1, 0],
//        [0, 0, 0, 1, 1, 1]]]]
//   $ fovea run examples/masks/segments.mlir --input 'segment=[[7, 7, 7, 9]]' --input q=random:1x4x2x4 --input k=random:1x4x2x4 --input v=random:1x4x2x4
//   output: [1, 4, 2, 4] f32
//   ...

#query = affine_map<(b, h, i, j, d) -> (b, i, h, d)>
#key = affine_map<(b, h, i, j, d) -> (b, j, h, d)>
#pair = affine_map<(b, h, i, j, d) -> (b, h, i, j)>
#id = affine_map<(b, h, i, j) -> (b, h, i, j)>
#of_query = affine_map<(b, h, i, j) -> (b, i)>
#of_key = affine_map<(b, h, i, j) -> (b, j)>

func.func @forward(%q: tensor<?x?x2x4xf32> {fovea.name = "q", fovea.dims = ["batch", "words"]},
                   %k: tensor<?x?x2x4xf32> {fovea.name = "k", fovea.dims = ["batch", "words"]},
                   %v: tensor<?x?x2x4xf32> {fovea.name = "v", fovea.dims = ["batch", "words"]},
                   %segment: tensor<?x?xi64> {fovea.name = "segment", fovea.dims = ["batch", "words"]})
    -> (tensor<?x?x2x4xf32> {fovea.name = "output", fovea.dims = ["batch", "words"]})
    attributes {fovea.entry} {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %zero = arith.constant 0.0 : f32
  %batch = tensor.dim %q, %c0 : tensor<?x?x2x4xf32>
  %words = tensor.dim %q, %c1 : tensor<?x?x2x4xf32>

  %matrix = tensor.empty(%batch, %words, %words) : tensor<?x2x?x?xf32>
  %matrix_zero = linalg.fill ins(%zero : f32) outs(%matrix : tensor<?x2x?x?xf32>) -> tensor<?x2x?x?xf32>
  %products = linalg.contract indexing_maps = [#query, #key, #pair]
      ins(%q, %k : tensor<?x?x2x4xf32>, tensor<?x?x2x4xf32>) outs(%matrix_zero : tensor<?x2x?x?xf32>) -> tensor<?x2x?x?xf32>

  // where(segment[b, i] == segment[b, j] and j <= i, x / sqrt(4), -infinity)
  %masked = linalg.generic {indexing_maps = [#id, #of_query, #of_key, #id], iterator_types = ["parallel", "parallel", "parallel", "parallel"]}
      ins(%products, %segment, %segment : tensor<?x2x?x?xf32>, tensor<?x?xi64>, tensor<?x?xi64>) outs(%matrix : tensor<?x2x?x?xf32>) {
  ^bb0(%product: f32, %mine: i64, %other: i64, %unused: f32):
    %scale = arith.constant 0.5 : f32
    %never = arith.constant 0xFF800000 : f32 // -infinity
    %i = linalg.index 2 : index
    %j = linalg.index 3 : index
    %same = arith.cmpi eq, %mine, %other : i64
    %before = arith.cmpi sle, %j, %i : index
    %allowed = arith.andi %same, %before : i1
    %x = arith.mulf %product, %scale : f32
    %y = arith.select %allowed, %x, %never : f32
    linalg.yield %y : f32
  } -> tensor<?x2x?x?xf32>

  %p = linalg.softmax dimension(3) ins(%masked : tensor<?x2x?x?xf32>) outs(%matrix : tensor<?x2x?x?xf32>) -> tensor<?x2x?x?xf32>
  %output = tensor.empty(%batch, %words) : tensor<?x?x2x4xf32>
  %output_zero = linalg.fill ins(%zero : f32) outs(%output : tensor<?x?x2x4xf32>) -> tensor<?x?x2x4xf32>
  %o = linalg.contract indexing_maps = [#pair, #key, #query]
      ins(%p, %v : tensor<?x2x?x?xf32>, tensor<?x?x2x4xf32>) outs(%output_zero : tensor<?x?x2x4xf32>) -> tensor<?x?x2x4xf32>
  return %o : tensor<?x?x2x4xf32>
}

func.func @mask(%segment: tensor<1x6xi32> {fovea.name = "segment"}) -> (tensor<1x1x6x6xi1> {fovea.name = "mask"}) attributes {fovea.entry} {
  %same = fovea.mask_segment %segment, %segment : tensor<1x6xi32>, tensor<1x6xi32>
  %causal = fovea.mask_causal
  %both = fovea.mask_and(%same, %causal)
  %t = fovea.mask_materialize %both [] : tensor<1x1x6x6xi1>
  return %t : tensor<1x1x6x6xi1>
}
