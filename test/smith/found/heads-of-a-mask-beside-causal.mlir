// RUN: fovea-smith %s

// A mask of its own for each head was taken for a comparison of heads and keys, and the heads for
// queries, as places were compared as floats.
//
// choices: batch=1 heads=1 group=2 grouping=1 depth=2 batch-size=1 queries=1 keys=1 mask0=1 mask1=15 spelling=852566413
// fused: 1
// masks: causal|window dense
// size: batch 1 3
// size: keys 1 5
// size: queries 1 2
// input: q normal 1
// input: k normal 1
// input: v normal 1
// input: mask1 keep 65 first

func.func @forward(%q: tensor<?x2x?x2xf32> {fovea.name = "q", fovea.dims = ["batch", "queries"]},
                   %k: tensor<?x1x?x2xf32> {fovea.name = "k", fovea.dims = ["batch", "keys"]},
                   %v: tensor<?x1x?x2xf32> {fovea.name = "v", fovea.dims = ["batch", "keys"]},
                   %mask1: tensor<1x2x1x?xi64> {fovea.name = "mask1", fovea.dims = ["keys"]})
    -> (tensor<?x2x?x2xf32> {fovea.name = "output", fovea.dims = ["batch", "queries"]})
    attributes {fovea.entry} {
  %c0 = arith.constant 0 : index
  %batch = tensor.dim %q, %c0 : tensor<?x2x?x2xf32>
  %c1 = arith.constant 2 : index
  %queries = tensor.dim %q, %c1 : tensor<?x2x?x2xf32>
  %c2 = arith.constant 2 : index
  %keys = tensor.dim %k, %c2 : tensor<?x1x?x2xf32>
  %e3 = tensor.empty(%batch, %keys) : tensor<?x1x2x?x2xf32>
  %t6 = linalg.generic {indexing_maps = [affine_map<(b, k, g, j, d) -> (b, k, j, d)>, affine_map<(b, k, g, j, d) -> (b, k, g, j, d)>], iterator_types = ["parallel", "parallel", "parallel", "parallel", "parallel"]}
      ins(%k : tensor<?x1x?x2xf32>) outs(%e3 : tensor<?x1x2x?x2xf32>) {
  ^bb0(%in4: f32, %acc5: f32):
    linalg.yield %in4 : f32
  } -> tensor<?x1x2x?x2xf32>
  %flat7 = tensor.collapse_shape %t6 [[0], [1, 2], [3], [4]] : tensor<?x1x2x?x2xf32> into tensor<?x2x?x2xf32>
  %e8 = tensor.empty(%batch, %keys) : tensor<?x1x2x?x2xf32>
  %t11 = linalg.generic {indexing_maps = [affine_map<(b, k, g, j, e) -> (b, k, j, e)>, affine_map<(b, k, g, j, e) -> (b, k, g, j, e)>], iterator_types = ["parallel", "parallel", "parallel", "parallel", "parallel"]}
      ins(%v : tensor<?x1x?x2xf32>) outs(%e8 : tensor<?x1x2x?x2xf32>) {
  ^bb0(%in9: f32, %acc10: f32):
    linalg.yield %in9 : f32
  } -> tensor<?x1x2x?x2xf32>
  %flat12 = tensor.collapse_shape %t11 [[0], [1, 2], [3], [4]] : tensor<?x1x2x?x2xf32> into tensor<?x2x?x2xf32>
  %e13 = tensor.empty(%batch, %queries, %keys) : tensor<?x2x?x?xf32>
  %c14 = arith.constant 0.00000000e+00 : f32
  %f15 = linalg.fill ins(%c14 : f32) outs(%e13 : tensor<?x2x?x?xf32>) -> tensor<?x2x?x?xf32>
  %product16 = linalg.contract indexing_maps = [affine_map<(b, A, i, j, d) -> (b, A, i, d)>, affine_map<(b, A, i, j, d) -> (b, A, j, d)>, affine_map<(b, A, i, j, d) -> (b, A, i, j)>]
      ins(%q, %flat7 : tensor<?x2x?x2xf32>, tensor<?x2x?x2xf32>) outs(%f15 : tensor<?x2x?x?xf32>) -> tensor<?x2x?x?xf32>
  %e17 = tensor.empty(%batch, %queries, %keys) : tensor<?x2x?x?xf32>
  %t33 = linalg.generic {indexing_maps = [affine_map<(b, A, i, j) -> (0, A, 0, j)>, affine_map<(b, A, i, j) -> (b, A, i, j)>, affine_map<(b, A, i, j) -> (b, A, i, j)>], iterator_types = ["parallel", "parallel", "parallel", "parallel"]}
      ins(%mask1, %product16 : tensor<1x2x1x?xi64>, tensor<?x2x?x?xf32>) outs(%e17 : tensor<?x2x?x?xf32>) {
  ^bb0(%in18: i64, %in19: f32, %acc20: f32):
    %at21 = linalg.index 2 : index
    %v22 = arith.index_cast %at21 : index to i64
    %v23 = arith.sitofp %v22 : i64 to f32
    %at24 = linalg.index 3 : index
    %v25 = arith.index_cast %at24 : index to i64
    %v26 = arith.sitofp %v25 : i64 to f32
    %v27 = arith.cmpf oge, %v23, %v26 : f32
    %c28 = arith.constant 0 : i64
    %v29 = arith.cmpi ne, %in18, %c28 : i64
    %v30 = arith.andi %v27, %v29 : i1
    %c31 = arith.constant 0xFF800000 : f32
    %v32 = arith.select %v30, %in19, %c31 : f32
    linalg.yield %v32 : f32
  } -> tensor<?x2x?x?xf32>
  %e34 = tensor.empty(%batch, %queries, %keys) : tensor<?x2x?x?xf32>
  %p35 = linalg.softmax dimension(3) ins(%t33 : tensor<?x2x?x?xf32>) outs(%e34 : tensor<?x2x?x?xf32>) -> tensor<?x2x?x?xf32>
  %e36 = tensor.empty(%batch, %queries) : tensor<?x2x?x2xf32>
  %c37 = arith.constant 0.00000000e+00 : f32
  %f38 = linalg.fill ins(%c37 : f32) outs(%e36 : tensor<?x2x?x2xf32>) -> tensor<?x2x?x2xf32>
  %product39 = linalg.contract indexing_maps = [affine_map<(b, A, i, e, j) -> (b, A, i, j)>, affine_map<(b, A, i, e, j) -> (b, A, j, e)>, affine_map<(b, A, i, e, j) -> (b, A, i, e)>]
      ins(%p35, %flat12 : tensor<?x2x?x?xf32>, tensor<?x2x?x2xf32>) outs(%f38 : tensor<?x2x?x2xf32>) -> tensor<?x2x?x2xf32>
  return %product39 : tensor<?x2x?x2xf32>
}
