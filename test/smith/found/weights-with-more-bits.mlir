// RUN: fovea-smith %s

// Queries of f16, and weights returned as f32: they were rounded to f16.
//
// choices: type=1 upcast=3 batch=1 depth=8 batch-size=1 queries=5 keys=6 returns=1
// fused: 1
// masks:
// size: batch 1 6
// size: keys 6 7
// size: queries 5 9
// input: q normal 1
// input: k normal 1
// input: v normal 1

func.func @forward(%q: tensor<?x?x8xf16> {fovea.name = "q", fovea.dims = ["batch", "queries"]},
                   %k: tensor<?x?x8xf16> {fovea.name = "k", fovea.dims = ["batch", "keys"]},
                   %v: tensor<?x?x8xf16> {fovea.name = "v", fovea.dims = ["batch", "keys"]})
    -> (tensor<?x?x8xf16> {fovea.name = "output", fovea.dims = ["batch", "queries"]}, tensor<?x?x?xf32> {fovea.name = "weights", fovea.dims = ["batch", "queries", "keys"]})
    attributes {fovea.entry} {
  %c0 = arith.constant 0 : index
  %batch = tensor.dim %q, %c0 : tensor<?x?x8xf16>
  %c1 = arith.constant 1 : index
  %queries = tensor.dim %q, %c1 : tensor<?x?x8xf16>
  %c2 = arith.constant 1 : index
  %keys = tensor.dim %k, %c2 : tensor<?x?x8xf16>
  %e3 = tensor.empty(%batch, %queries) : tensor<?x?x8xf32>
  %t7 = linalg.generic {indexing_maps = [affine_map<(b, i, d) -> (b, i, d)>, affine_map<(b, i, d) -> (b, i, d)>], iterator_types = ["parallel", "parallel", "parallel"]}
      ins(%q : tensor<?x?x8xf16>) outs(%e3 : tensor<?x?x8xf32>) {
  ^bb0(%in4: f16, %acc5: f32):
    %v6 = arith.extf %in4 : f16 to f32
    linalg.yield %v6 : f32
  } -> tensor<?x?x8xf32>
  %e8 = tensor.empty(%batch, %keys) : tensor<?x?x8xf32>
  %t12 = linalg.generic {indexing_maps = [affine_map<(b, j, d) -> (b, j, d)>, affine_map<(b, j, d) -> (b, j, d)>], iterator_types = ["parallel", "parallel", "parallel"]}
      ins(%k : tensor<?x?x8xf16>) outs(%e8 : tensor<?x?x8xf32>) {
  ^bb0(%in9: f16, %acc10: f32):
    %v11 = arith.extf %in9 : f16 to f32
    linalg.yield %v11 : f32
  } -> tensor<?x?x8xf32>
  %e13 = tensor.empty(%batch, %queries, %keys) : tensor<?x?x?xf32>
  %c14 = arith.constant 0.00000000e+00 : f32
  %f15 = linalg.fill ins(%c14 : f32) outs(%e13 : tensor<?x?x?xf32>) -> tensor<?x?x?xf32>
  %product16 = linalg.contract indexing_maps = [affine_map<(b, i, j, d) -> (b, i, d)>, affine_map<(b, i, j, d) -> (b, j, d)>, affine_map<(b, i, j, d) -> (b, i, j)>]
      ins(%t7, %t12 : tensor<?x?x8xf32>, tensor<?x?x8xf32>) outs(%f15 : tensor<?x?x?xf32>) -> tensor<?x?x?xf32>
  %e17 = tensor.empty(%batch, %queries, %keys) : tensor<?x?x?xf32>
  %p18 = linalg.softmax dimension(2) ins(%product16 : tensor<?x?x?xf32>) outs(%e17 : tensor<?x?x?xf32>) -> tensor<?x?x?xf32>
  %e19 = tensor.empty(%batch, %keys) : tensor<?x?x8xf32>
  %t23 = linalg.generic {indexing_maps = [affine_map<(b, j, e) -> (b, j, e)>, affine_map<(b, j, e) -> (b, j, e)>], iterator_types = ["parallel", "parallel", "parallel"]}
      ins(%v : tensor<?x?x8xf16>) outs(%e19 : tensor<?x?x8xf32>) {
  ^bb0(%in20: f16, %acc21: f32):
    %v22 = arith.extf %in20 : f16 to f32
    linalg.yield %v22 : f32
  } -> tensor<?x?x8xf32>
  %e24 = tensor.empty(%batch, %queries) : tensor<?x?x8xf32>
  %c25 = arith.constant 0.00000000e+00 : f32
  %f26 = linalg.fill ins(%c25 : f32) outs(%e24 : tensor<?x?x8xf32>) -> tensor<?x?x8xf32>
  %product27 = linalg.contract indexing_maps = [affine_map<(b, i, e, j) -> (b, i, j)>, affine_map<(b, i, e, j) -> (b, j, e)>, affine_map<(b, i, e, j) -> (b, i, e)>]
      ins(%p18, %t23 : tensor<?x?x?xf32>, tensor<?x?x8xf32>) outs(%f26 : tensor<?x?x8xf32>) -> tensor<?x?x8xf32>
  %e28 = tensor.empty(%batch, %queries) : tensor<?x?x8xf16>
  %t32 = linalg.generic {indexing_maps = [affine_map<(b, i, e) -> (b, i, e)>, affine_map<(b, i, e) -> (b, i, e)>], iterator_types = ["parallel", "parallel", "parallel"]}
      ins(%product27 : tensor<?x?x8xf32>) outs(%e28 : tensor<?x?x8xf16>) {
  ^bb0(%in29: f32, %acc30: f16):
    %v31 = arith.truncf %in29 : f32 to f16
    linalg.yield %v31 : f16
  } -> tensor<?x?x8xf16>
  return %t32, %p18 : tensor<?x?x8xf16>, tensor<?x?x?xf32>
}
