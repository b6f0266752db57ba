// RUN: fovea-smith %s

// The logarithm of two was rounded to the score's type, and the softmax in base two not recognised.
//
// choices: type=2 batch=1 heads=2 depth=8 batch-size=1 queries=5 keys=6 softmax=2
// fused: 1
// masks:
// size: batch 1 6
// size: keys 6 7
// size: queries 5 9
// input: q normal 1
// input: k normal 1
// input: v normal 1

func.func @forward(%q: tensor<?x2x?x8xbf16> {fovea.name = "q", fovea.dims = ["batch", "queries"]},
                   %k: tensor<?x2x?x8xbf16> {fovea.name = "k", fovea.dims = ["batch", "keys"]},
                   %v: tensor<?x2x?x8xbf16> {fovea.name = "v", fovea.dims = ["batch", "keys"]})
    -> (tensor<?x2x?x8xbf16> {fovea.name = "output", fovea.dims = ["batch", "queries"]})
    attributes {fovea.entry} {
  %c0 = arith.constant 0 : index
  %batch = tensor.dim %q, %c0 : tensor<?x2x?x8xbf16>
  %c1 = arith.constant 2 : index
  %queries = tensor.dim %q, %c1 : tensor<?x2x?x8xbf16>
  %c2 = arith.constant 2 : index
  %keys = tensor.dim %k, %c2 : tensor<?x2x?x8xbf16>
  %e3 = tensor.empty(%batch, %queries, %keys) : tensor<?x2x?x?xbf16>
  %c4 = arith.constant 0.00000000e+00 : bf16
  %f5 = linalg.fill ins(%c4 : bf16) outs(%e3 : tensor<?x2x?x?xbf16>) -> tensor<?x2x?x?xbf16>
  %product6 = linalg.contract indexing_maps = [affine_map<(b, h, i, j, d) -> (b, h, i, d)>, affine_map<(b, h, i, j, d) -> (b, h, j, d)>, affine_map<(b, h, i, j, d) -> (b, h, i, j)>]
      ins(%q, %k : tensor<?x2x?x8xbf16>, tensor<?x2x?x8xbf16>) outs(%f5 : tensor<?x2x?x?xbf16>) -> tensor<?x2x?x?xbf16>
  %e7 = tensor.empty(%batch, %queries) : tensor<?x2x?xbf16>
  %c8 = arith.constant 0xFF80 : bf16
  %f9 = linalg.fill ins(%c8 : bf16) outs(%e7 : tensor<?x2x?xbf16>) -> tensor<?x2x?xbf16>
  %t13 = linalg.generic {indexing_maps = [affine_map<(b, h, i, j) -> (b, h, i, j)>, affine_map<(b, h, i, j) -> (b, h, i)>], iterator_types = ["parallel", "parallel", "parallel", "reduction"]}
      ins(%product6 : tensor<?x2x?x?xbf16>) outs(%f9 : tensor<?x2x?xbf16>) {
  ^bb0(%in10: bf16, %acc11: bf16):
    %v12 = arith.maximumf %acc11, %in10 : bf16
    linalg.yield %v12 : bf16
  } -> tensor<?x2x?xbf16>
  %e14 = tensor.empty(%batch, %queries, %keys) : tensor<?x2x?x?xbf16>
  %t22 = linalg.generic {indexing_maps = [affine_map<(b, h, i, j) -> (b, h, i, j)>, affine_map<(b, h, i, j) -> (b, h, i)>, affine_map<(b, h, i, j) -> (b, h, i, j)>], iterator_types = ["parallel", "parallel", "parallel", "parallel"]}
      ins(%product6, %t13 : tensor<?x2x?x?xbf16>, tensor<?x2x?xbf16>) outs(%e14 : tensor<?x2x?x?xbf16>) {
  ^bb0(%in15: bf16, %in16: bf16, %acc17: bf16):
    %v18 = arith.subf %in15, %in16 : bf16
    %c19 = arith.constant 1.44269504e+00 : bf16
    %v20 = arith.mulf %v18, %c19 : bf16
    %v21 = math.exp2 %v20 : bf16
    linalg.yield %v21 : bf16
  } -> tensor<?x2x?x?xbf16>
  %e23 = tensor.empty(%batch, %queries) : tensor<?x2x?xbf16>
  %c24 = arith.constant 0.00000000e+00 : bf16
  %f25 = linalg.fill ins(%c24 : bf16) outs(%e23 : tensor<?x2x?xbf16>) -> tensor<?x2x?xbf16>
  %t29 = linalg.generic {indexing_maps = [affine_map<(b, h, j, i) -> (b, h, i, j)>, affine_map<(b, h, j, i) -> (b, h, i)>], iterator_types = ["parallel", "parallel", "reduction", "parallel"]}
      ins(%t22 : tensor<?x2x?x?xbf16>) outs(%f25 : tensor<?x2x?xbf16>) {
  ^bb0(%in26: bf16, %acc27: bf16):
    %v28 = arith.addf %in26, %acc27 : bf16
    linalg.yield %v28 : bf16
  } -> tensor<?x2x?xbf16>
  %e30 = tensor.empty(%batch, %queries, %keys) : tensor<?x2x?x?xbf16>
  %t35 = linalg.generic {indexing_maps = [affine_map<(b, h, i, j) -> (b, h, i, j)>, affine_map<(b, h, i, j) -> (b, h, i)>, affine_map<(b, h, i, j) -> (b, h, i, j)>], iterator_types = ["parallel", "parallel", "parallel", "parallel"]}
      ins(%t22, %t29 : tensor<?x2x?x?xbf16>, tensor<?x2x?xbf16>) outs(%e30 : tensor<?x2x?x?xbf16>) {
  ^bb0(%in31: bf16, %in32: bf16, %acc33: bf16):
    %v34 = arith.divf %in31, %in32 : bf16
    linalg.yield %v34 : bf16
  } -> tensor<?x2x?x?xbf16>
  %e36 = tensor.empty(%batch, %queries) : tensor<?x2x?x8xbf16>
  %c37 = arith.constant 0.00000000e+00 : bf16
  %f38 = linalg.fill ins(%c37 : bf16) outs(%e36 : tensor<?x2x?x8xbf16>) -> tensor<?x2x?x8xbf16>
  %product39 = linalg.contract indexing_maps = [affine_map<(b, h, i, e, j) -> (b, h, i, j)>, affine_map<(b, h, i, e, j) -> (b, h, j, e)>, affine_map<(b, h, i, e, j) -> (b, h, i, e)>]
      ins(%t35, %v : tensor<?x2x?x?xbf16>, tensor<?x2x?x8xbf16>) outs(%f38 : tensor<?x2x?x8xbf16>) -> tensor<?x2x?x8xbf16>
  return %product39 : tensor<?x2x?x8xbf16>
}
