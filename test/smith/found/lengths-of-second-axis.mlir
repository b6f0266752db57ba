// RUN: fovea-smith %s

// Of two fixed axes the batch is the one that lengths have, not the first.
//
// choices: batch=1 heads=2 depth=2 static=1 batch-size=2 queries=5 keys=6 value-product=2 score-order=2 mask0=11
// fused: 1
// masks: prefix
// size: keys 6 10
// size: queries 5 10
// input: q normal 1
// input: k normal 1
// input: v normal 1
// input: length0 upto keys 0

func.func @forward(%q: tensor<2x2x?x2xf32> {fovea.name = "q", fovea.dims = ["queries"]},
                   %k: tensor<2x2x?x2xf32> {fovea.name = "k", fovea.dims = ["keys"]},
                   %v: tensor<2x2x?x2xf32> {fovea.name = "v", fovea.dims = ["keys"]},
                   %length0: tensor<2xi32> {fovea.name = "length0"})
    -> (tensor<2x2x?x2xf32> {fovea.name = "output", fovea.dims = ["queries"]})
    attributes {fovea.entry} {
  %c0 = arith.constant 2 : index
  %queries = tensor.dim %q, %c0 : tensor<2x2x?x2xf32>
  %c1 = arith.constant 2 : index
  %keys = tensor.dim %k, %c1 : tensor<2x2x?x2xf32>
  %e2 = tensor.empty(%queries, %keys) : tensor<2x2x?x?xf32>
  %c3 = arith.constant 0.00000000e+00 : f32
  %f4 = linalg.fill ins(%c3 : f32) outs(%e2 : tensor<2x2x?x?xf32>) -> tensor<2x2x?x?xf32>
  %product5 = linalg.contract indexing_maps = [affine_map<(h, b, i, j, d) -> (b, h, i, d)>, affine_map<(h, b, i, j, d) -> (b, h, j, d)>, affine_map<(h, b, i, j, d) -> (h, b, i, j)>]
      ins(%q, %k : tensor<2x2x?x2xf32>, tensor<2x2x?x2xf32>) outs(%f4 : tensor<2x2x?x?xf32>) -> tensor<2x2x?x?xf32>
  %e6 = tensor.empty(%queries, %keys) : tensor<2x2x?x?xf32>
  %t24 = linalg.generic {indexing_maps = [affine_map<(h, b, i, j) -> (b)>, affine_map<(h, b, i, j) -> (h, b, i, j)>, affine_map<(h, b, i, j) -> (h, b, i, j)>], iterator_types = ["parallel", "parallel", "parallel", "parallel"]}
      ins(%length0, %product5 : tensor<2xi32>, tensor<2x2x?x?xf32>) outs(%e6 : tensor<2x2x?x?xf32>) {
  ^bb0(%in7: i32, %in8: f32, %acc9: f32):
    %at10 = linalg.index 3 : index
    %v11 = arith.index_cast %at10 : index to i64
    %at12 = linalg.index 2 : index
    %v13 = arith.index_cast %at12 : index to i64
    %c14 = arith.constant 1 : i64
    %v15 = arith.addi %v13, %c14 : i64
    %v16 = arith.cmpi slt, %v11, %v15 : i64
    %v17 = arith.extsi %in7 : i32 to i64
    %v18 = arith.cmpi slt, %v11, %v17 : i64
    %v19 = arith.ori %v16, %v18 : i1
    %c20 = arith.constant true
    %v21 = arith.xori %v19, %c20 : i1
    %c22 = arith.constant 0xFF800000 : f32
    %v23 = arith.select %v21, %c22, %in8 : f32
    linalg.yield %v23 : f32
  } -> tensor<2x2x?x?xf32>
  %e25 = tensor.empty(%queries, %keys) : tensor<2x2x?x?xf32>
  %p26 = linalg.softmax dimension(3) ins(%t24 : tensor<2x2x?x?xf32>) outs(%e25 : tensor<2x2x?x?xf32>) -> tensor<2x2x?x?xf32>
  %flat27 = tensor.collapse_shape %p26 [[0, 1], [2], [3]] : tensor<2x2x?x?xf32> into tensor<4x?x?xf32>
  %e28 = tensor.empty(%keys) : tensor<2x2x?x2xf32>
  %turned29 = linalg.transpose ins(%v : tensor<2x2x?x2xf32>) outs(%e28 : tensor<2x2x?x2xf32>) permutation = [1, 0, 2, 3]
  %flat30 = tensor.collapse_shape %turned29 [[0, 1], [2], [3]] : tensor<2x2x?x2xf32> into tensor<4x?x2xf32>
  %e31 = tensor.empty(%queries) : tensor<4x?x2xf32>
  %c32 = arith.constant 0.00000000e+00 : f32
  %f33 = linalg.fill ins(%c32 : f32) outs(%e31 : tensor<4x?x2xf32>) -> tensor<4x?x2xf32>
  %product34 = linalg.batch_matmul ins(%flat27, %flat30 : tensor<4x?x?xf32>, tensor<4x?x2xf32>) outs(%f33 : tensor<4x?x2xf32>) -> tensor<4x?x2xf32>
  %split35 = tensor.expand_shape %product34 [[0, 1], [2], [3]] output_shape [2, 2, %queries, 2] : tensor<4x?x2xf32> into tensor<2x2x?x2xf32>
  %e36 = tensor.empty(%queries) : tensor<2x2x?x2xf32>
  %t39 = linalg.generic {indexing_maps = [affine_map<(b, h, i, e) -> (h, b, i, e)>, affine_map<(b, h, i, e) -> (b, h, i, e)>], iterator_types = ["parallel", "parallel", "parallel", "parallel"]}
      ins(%split35 : tensor<2x2x?x2xf32>) outs(%e36 : tensor<2x2x?x2xf32>) {
  ^bb0(%in37: f32, %acc38: f32):
    linalg.yield %in37 : f32
  } -> tensor<2x2x?x2xf32>
  return %t39 : tensor<2x2x?x2xf32>
}
