// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Padding: texts of several lengths in one batch; keys past a text's length are not seen.
//
//     allowed(b, i, j) = j < lengths[b]
//     x[b,i,j] = q[b,i] . k[b,j] / sqrt(D)  +  (allowed ? 0 : -10000)          here D = 4
//
// Entry `forward` adds a very negative number to the scores, as BERT does. The compiler sees that the number says "not allowed" and
// makes a length of it. What it also keeps: in a text of length zero all scores have the same number added, which softmax does not see. Such
// a row comes out as if there were no mask (masks/fills.mlir).
//
//   $ fovea inspect examples/masks/padding.mlir | grep fused
//   fused ... length ... x
//   $ fovea compile examples/masks/padding.mlir --emit=graph | grep -o 'fovea.mask_length' | sed -n 1p
//   fovea.mask_length
//   $ fovea compile examples/masks/padding.mlir --emit=graph | grep -o 'fill([a-z]*)'
//   fill(raw)
//   $ fovea run examples/masks/padding.mlir --entry mask --input 'lengths=[2, 3]'
//   mask: [2, 1, 3, 3] bool
//     [[[[1, 1, 0],
//        [1, 1, 0],
//        [1, 1, 0]]],
//      [[[1, 1, 1],
//        [1, 1, 1],
//        [1, 1, 1]]]]
//
// Scores that are all equal (of zeros) give the mean of what may be seen:
//
//   $ fovea run examples/masks/padding.mlir --input 'lengths=[2, 3]' --input 'q=[[[0,0,0,0]], [[0,0,0,0]]]' \
//         --input k=random:2x3x4 --input 'v=[[[1], [2], [6]], [[1], [2], [6]]]'
//   output: [2, 1, 1] f32
//     [[[1.5000]],
//      [[3.0000]]]

#query = affine_map<(b, i, j, d) -> (b, i, d)>
#key = affine_map<(b, i, j, d) -> (b, j, d)>
#pair = affine_map<(b, i, j, d) -> (b, i, j)>
#id = affine_map<(b, i, j) -> (b, i, j)>
#batch = affine_map<(b, i, j) -> (b)>

func.func @forward(%q: tensor<?x?x4xf32> {fovea.name = "q", fovea.dims = ["batch", "queries"]},
                   %k: tensor<?x?x4xf32> {fovea.name = "k", fovea.dims = ["batch", "keys"]},
                   %v: tensor<?x?x1xf32> {fovea.name = "v", fovea.dims = ["batch", "keys"]},
                   %lengths: tensor<?xi64> {fovea.name = "lengths", fovea.dims = ["batch"]})
    -> (tensor<?x?x1xf32> {fovea.name = "output", fovea.dims = ["batch", "queries"]})
    attributes {fovea.entry} {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %zero = arith.constant 0.0 : f32
  %batch = tensor.dim %q, %c0 : tensor<?x?x4xf32>
  %queries = tensor.dim %q, %c1 : tensor<?x?x4xf32>
  %keys = tensor.dim %k, %c1 : tensor<?x?x4xf32>

  %matrix = tensor.empty(%batch, %queries, %keys) : tensor<?x?x?xf32>
  %matrix_zero = linalg.fill ins(%zero : f32) outs(%matrix : tensor<?x?x?xf32>) -> tensor<?x?x?xf32>
  %products = linalg.contract indexing_maps = [#query, #key, #pair]
      ins(%q, %k : tensor<?x?x4xf32>, tensor<?x?x4xf32>) outs(%matrix_zero : tensor<?x?x?xf32>) -> tensor<?x?x?xf32>

  // x / sqrt(4) + (j < lengths[b] ? 0 : -10000)
  %masked = linalg.generic {indexing_maps = [#id, #batch, #id], iterator_types = ["parallel", "parallel", "parallel"]}
      ins(%products, %lengths : tensor<?x?x?xf32>, tensor<?xi64>) outs(%matrix : tensor<?x?x?xf32>) {
  ^bb0(%product: f32, %length: i64, %unused: f32):
    %scale = arith.constant 0.5 : f32
    %nothing = arith.constant 0.0 : f32
    %very_negative = arith.constant -1.0e4 : f32
    %place = linalg.index 2 : index
    %j = arith.index_cast %place : index to i64
    %allowed = arith.cmpi slt, %j, %length : i64
    %added = arith.select %allowed, %nothing, %very_negative : f32
    %x = arith.mulf %product, %scale : f32
    %y = arith.addf %x, %added : f32
    linalg.yield %y : f32
  } -> tensor<?x?x?xf32>

  %p = linalg.softmax dimension(2) ins(%masked : tensor<?x?x?xf32>) outs(%matrix : tensor<?x?x?xf32>) -> tensor<?x?x?xf32>
  %output = tensor.empty(%batch, %queries) : tensor<?x?x1xf32>
  %output_zero = linalg.fill ins(%zero : f32) outs(%output : tensor<?x?x1xf32>) -> tensor<?x?x1xf32>
  %o = linalg.batch_matmul ins(%p, %v : tensor<?x?x?xf32>, tensor<?x?x1xf32>) outs(%output_zero : tensor<?x?x1xf32>) -> tensor<?x?x1xf32>
  return %o : tensor<?x?x1xf32>
}

func.func @mask(%lengths: tensor<2xi32> {fovea.name = "lengths"}) -> (tensor<2x1x3x3xi1> {fovea.name = "mask"}) attributes {fovea.entry} {
  %length = fovea.mask_length %lengths : tensor<2xi32>
  %t = fovea.mask_materialize %length [] : tensor<2x1x3x3xi1>
  return %t : tensor<2x1x3x3xi1>
}
