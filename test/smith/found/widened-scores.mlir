// RUN: fovea-smith %s

// Scores of f16, returned in f32, where a processor multiplies and adds halves with one rounding: taken for more
// precise than they are.
//
// choices: type=1 upcast=2 batch=1 depth=8 batch-size=2 queries=2 keys=2 scale=3 returns=2
// fused: 1
// masks:
// size: batch 2 7
// size: keys 2 3
// size: queries 2 6
// input: q normal 1
// input: k normal 1
// input: v normal 1

func.func @forward(%q: tensor<?x?x8xf16> {fovea.name = "q", fovea.dims = ["batch", "queries"]},
                   %k: tensor<?x?x8xf16> {fovea.name = "k", fovea.dims = ["batch", "keys"]},
                   %v: tensor<?x?x8xf16> {fovea.name = "v", fovea.dims = ["batch", "keys"]})
    -> (tensor<?x?x8xf16> {fovea.name = "output", fovea.dims = ["batch", "queries"]}, tensor<?x?x?xf32> {fovea.name = "scores", fovea.dims = ["batch", "queries", "keys"]})
    attributes {fovea.entry} {
  %c0 = arith.constant 0 : index
  %batch = tensor.dim %q, %c0 : tensor<?x?x8xf16>
  %c1 = arith.constant 1 : index
  %queries = tensor.dim %q, %c1 : tensor<?x?x8xf16>
  %c2 = arith.constant 1 : index
  %keys = tensor.dim %k, %c2 : tensor<?x?x8xf16>
  %e3 = tensor.empty(%batch, %keys) : tensor<?x?x8xf16>
  %t8 = linalg.generic {indexing_maps = [affine_map<(b, j, d) -> (b, j, d)>, affine_map<(b, j, d) -> (b, j, d)>], iterator_types = ["parallel", "parallel", "parallel"]}
      ins(%k : tensor<?x?x8xf16>) outs(%e3 : tensor<?x?x8xf16>) {
  ^bb0(%in4: f16, %acc5: f16):
    %c6 = arith.constant 2.82842712e+00 : f16
    %v7 = arith.divf %in4, %c6 : f16
    linalg.yield %v7 : f16
  } -> tensor<?x?x8xf16>
  %e9 = tensor.empty(%batch, %queries, %keys) : tensor<?x?x?xf16>
  %c10 = arith.constant 0.00000000e+00 : f16
  %f11 = linalg.fill ins(%c10 : f16) outs(%e9 : tensor<?x?x?xf16>) -> tensor<?x?x?xf16>
  %product12 = linalg.contract indexing_maps = [affine_map<(b, i, j, d) -> (b, i, d)>, affine_map<(b, i, j, d) -> (b, j, d)>, affine_map<(b, i, j, d) -> (b, i, j)>]
      ins(%q, %t8 : tensor<?x?x8xf16>, tensor<?x?x8xf16>) outs(%f11 : tensor<?x?x?xf16>) -> tensor<?x?x?xf16>
  %e13 = tensor.empty(%batch, %queries, %keys) : tensor<?x?x?xf32>
  %t17 = linalg.generic {indexing_maps = [affine_map<(b, i, j) -> (b, i, j)>, affine_map<(b, i, j) -> (b, i, j)>], iterator_types = ["parallel", "parallel", "parallel"]}
      ins(%product12 : tensor<?x?x?xf16>) outs(%e13 : tensor<?x?x?xf32>) {
  ^bb0(%in14: f16, %acc15: f32):
    %v16 = arith.extf %in14 : f16 to f32
    linalg.yield %v16 : f32
  } -> tensor<?x?x?xf32>
  %e18 = tensor.empty(%batch, %queries, %keys) : tensor<?x?x?xf32>
  %p19 = linalg.softmax dimension(2) ins(%t17 : tensor<?x?x?xf32>) outs(%e18 : tensor<?x?x?xf32>) -> tensor<?x?x?xf32>
  %e20 = tensor.empty(%batch, %queries, %keys) : tensor<?x?x?xf16>
  %t24 = linalg.generic {indexing_maps = [affine_map<(b, i, j) -> (b, i, j)>, affine_map<(b, i, j) -> (b, i, j)>], iterator_types = ["parallel", "parallel", "parallel"]}
      ins(%p19 : tensor<?x?x?xf32>) outs(%e20 : tensor<?x?x?xf16>) {
  ^bb0(%in21: f32, %acc22: f16):
    %v23 = arith.truncf %in21 : f32 to f16
    linalg.yield %v23 : f16
  } -> tensor<?x?x?xf16>
  %e25 = tensor.empty(%batch, %queries) : tensor<?x?x8xf16>
  %c26 = arith.constant 0.00000000e+00 : f16
  %f27 = linalg.fill ins(%c26 : f16) outs(%e25 : tensor<?x?x8xf16>) -> tensor<?x?x8xf16>
  %product28 = linalg.contract indexing_maps = [affine_map<(b, i, e, j) -> (b, i, j)>, affine_map<(b, i, e, j) -> (b, j, e)>, affine_map<(b, i, e, j) -> (b, i, e)>]
      ins(%t24, %v : tensor<?x?x?xf16>, tensor<?x?x8xf16>) outs(%f27 : tensor<?x?x8xf16>) -> tensor<?x?x8xf16>
  %e29 = tensor.empty(%batch, %queries, %keys) : tensor<?x?x?xf32>
  %t33 = linalg.generic {indexing_maps = [affine_map<(b, i, j) -> (b, i, j)>, affine_map<(b, i, j) -> (b, i, j)>], iterator_types = ["parallel", "parallel", "parallel"]}
      ins(%product12 : tensor<?x?x?xf16>) outs(%e29 : tensor<?x?x?xf32>) {
  ^bb0(%in30: f16, %acc31: f32):
    %v32 = arith.extf %in30 : f16 to f32
    linalg.yield %v32 : f32
  } -> tensor<?x?x?xf32>
  return %product28, %t33 : tensor<?x?x8xf16>, tensor<?x?x?xf32>
}
