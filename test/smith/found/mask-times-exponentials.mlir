// RUN: fovea-smith %s

// Exponentials times the mask: a row without keys is 0/0, not zero.
//
// choices: batch=1 heads=2 depth=4 batch-size=1 queries=9 keys=6 mask0=7 apply=9 softmax=1
// fused: 1
// masks: window
// size: batch 1 6
// size: keys 6 7
// size: queries 9 13
// input: q normal 1
// input: k normal 1
// input: v normal 1

func.func @forward(%q: tensor<?x2x?x4xf32> {fovea.name = "q", fovea.dims = ["batch", "queries"]},
                   %k: tensor<?x2x?x4xf32> {fovea.name = "k", fovea.dims = ["batch", "keys"]},
                   %v: tensor<?x2x?x4xf32> {fovea.name = "v", fovea.dims = ["batch", "keys"]})
    -> (tensor<?x2x?x4xf32> {fovea.name = "output", fovea.dims = ["batch", "queries"]})
    attributes {fovea.entry} {
  %c0 = arith.constant 0 : index
  %batch = tensor.dim %q, %c0 : tensor<?x2x?x4xf32>
  %c1 = arith.constant 2 : index
  %queries = tensor.dim %q, %c1 : tensor<?x2x?x4xf32>
  %c2 = arith.constant 2 : index
  %keys = tensor.dim %k, %c2 : tensor<?x2x?x4xf32>
  %e3 = tensor.empty(%batch, %queries, %keys) : tensor<?x2x?x?xf32>
  %c4 = arith.constant 0.00000000e+00 : f32
  %f5 = linalg.fill ins(%c4 : f32) outs(%e3 : tensor<?x2x?x?xf32>) -> tensor<?x2x?x?xf32>
  %product6 = linalg.contract indexing_maps = [affine_map<(b, h, i, j, d) -> (b, h, i, d)>, affine_map<(b, h, i, j, d) -> (b, h, j, d)>, affine_map<(b, h, i, j, d) -> (b, h, i, j)>]
      ins(%q, %k : tensor<?x2x?x4xf32>, tensor<?x2x?x4xf32>) outs(%f5 : tensor<?x2x?x?xf32>) -> tensor<?x2x?x?xf32>
  %e7 = tensor.empty(%batch, %queries) : tensor<?x2x?xf32>
  %c8 = arith.constant 0xFF800000 : f32
  %f9 = linalg.fill ins(%c8 : f32) outs(%e7 : tensor<?x2x?xf32>) -> tensor<?x2x?xf32>
  %t13 = linalg.generic {indexing_maps = [affine_map<(b, h, i, j) -> (b, h, i, j)>, affine_map<(b, h, i, j) -> (b, h, i)>], iterator_types = ["parallel", "parallel", "parallel", "reduction"]}
      ins(%product6 : tensor<?x2x?x?xf32>) outs(%f9 : tensor<?x2x?xf32>) {
  ^bb0(%in10: f32, %acc11: f32):
    %v12 = arith.maxnumf %acc11, %in10 : f32
    linalg.yield %v12 : f32
  } -> tensor<?x2x?xf32>
  %e14 = tensor.empty(%batch, %queries) : tensor<?x2x?xf32>
  %c15 = arith.constant 0.00000000e+00 : f32
  %f16 = linalg.fill ins(%c15 : f32) outs(%e14 : tensor<?x2x?xf32>) -> tensor<?x2x?xf32>
  %t30 = linalg.generic {indexing_maps = [affine_map<(b, h, i, j) -> (b, h, i, j)>, affine_map<(b, h, i, j) -> (b, h, i)>, affine_map<(b, h, i, j) -> (b, h, i)>], iterator_types = ["parallel", "parallel", "parallel", "reduction"]}
      ins(%product6, %t13 : tensor<?x2x?x?xf32>, tensor<?x2x?xf32>) outs(%f16 : tensor<?x2x?xf32>) {
  ^bb0(%in17: f32, %in18: f32, %acc19: f32):
    %v20 = arith.subf %in17, %in18 : f32
    %v21 = math.exp %v20 : f32
    %at22 = linalg.index 3 : index
    %v23 = arith.index_cast %at22 : index to i64
    %at24 = linalg.index 2 : index
    %v25 = arith.index_cast %at24 : index to i64
    %v26 = arith.cmpi slt, %v23, %v25 : i64
    %v27 = arith.uitofp %v26 : i1 to f32
    %v28 = arith.mulf %v21, %v27 : f32
    %v29 = arith.addf %v28, %acc19 : f32
    linalg.yield %v29 : f32
  } -> tensor<?x2x?xf32>
  %e31 = tensor.empty(%batch, %queries, %keys) : tensor<?x2x?x?xf32>
  %t46 = linalg.generic {indexing_maps = [affine_map<(b, h, i, j) -> (b, h, i, j)>, affine_map<(b, h, i, j) -> (b, h, i)>, affine_map<(b, h, i, j) -> (b, h, i)>, affine_map<(b, h, i, j) -> (b, h, i, j)>], iterator_types = ["parallel", "parallel", "parallel", "parallel"]}
      ins(%product6, %t13, %t30 : tensor<?x2x?x?xf32>, tensor<?x2x?xf32>, tensor<?x2x?xf32>) outs(%e31 : tensor<?x2x?x?xf32>) {
  ^bb0(%in32: f32, %in33: f32, %in34: f32, %acc35: f32):
    %v36 = arith.subf %in32, %in33 : f32
    %v37 = math.exp %v36 : f32
    %at38 = linalg.index 3 : index
    %v39 = arith.index_cast %at38 : index to i64
    %at40 = linalg.index 2 : index
    %v41 = arith.index_cast %at40 : index to i64
    %v42 = arith.cmpi slt, %v39, %v41 : i64
    %v43 = arith.uitofp %v42 : i1 to f32
    %v44 = arith.mulf %v37, %v43 : f32
    %v45 = arith.divf %v44, %in34 : f32
    linalg.yield %v45 : f32
  } -> tensor<?x2x?x?xf32>
  %e47 = tensor.empty(%batch, %queries) : tensor<?x2x?x4xf32>
  %c48 = arith.constant 0.00000000e+00 : f32
  %f49 = linalg.fill ins(%c48 : f32) outs(%e47 : tensor<?x2x?x4xf32>) -> tensor<?x2x?x4xf32>
  %product50 = linalg.contract indexing_maps = [affine_map<(b, h, i, e, j) -> (b, h, i, j)>, affine_map<(b, h, i, e, j) -> (b, h, j, e)>, affine_map<(b, h, i, e, j) -> (b, h, i, e)>]
      ins(%t46, %v : tensor<?x2x?x?xf32>, tensor<?x2x?x4xf32>) outs(%f49 : tensor<?x2x?x4xf32>) -> tensor<?x2x?x4xf32>
  return %product50 : tensor<?x2x?x4xf32>
}
