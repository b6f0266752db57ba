// RUN: fovea-smith %s

// A mask of floats that are compared with zero was dropped: numbers drawn at random never are zero.
//
// choices: batch=1 heads=2 depth=4 batch-size=1 queries=9 keys=12 mask0=15 apply=9 softmax=1
// fused: 1
// masks: dense
// size: batch 1 6
// size: keys 12 13
// size: queries 9 13
// input: q normal 1
// input: k normal 1
// input: v normal 1
// input: mask0 keep 65 first

func.func @forward(%q: tensor<?x2x?x4xf32> {fovea.name = "q", fovea.dims = ["batch", "queries"]},
                   %k: tensor<?x2x?x4xf32> {fovea.name = "k", fovea.dims = ["batch", "keys"]},
                   %v: tensor<?x2x?x4xf32> {fovea.name = "v", fovea.dims = ["batch", "keys"]},
                   %mask0: tensor<?xf32> {fovea.name = "mask0", fovea.dims = ["keys"]})
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
  %t28 = linalg.generic {indexing_maps = [affine_map<(b, h, i, j) -> (b, h, i, j)>, affine_map<(b, h, i, j) -> (b, h, i)>, affine_map<(b, h, i, j) -> (j)>, affine_map<(b, h, i, j) -> (b, h, i)>], iterator_types = ["parallel", "parallel", "parallel", "reduction"]}
      ins(%product6, %t13, %mask0 : tensor<?x2x?x?xf32>, tensor<?x2x?xf32>, tensor<?xf32>) outs(%f16 : tensor<?x2x?xf32>) {
  ^bb0(%in17: f32, %in18: f32, %in19: f32, %acc20: f32):
    %v21 = arith.subf %in17, %in18 : f32
    %v22 = math.exp %v21 : f32
    %c23 = arith.constant 0.00000000e+00 : f32
    %v24 = arith.cmpf une, %in19, %c23 : f32
    %v25 = arith.uitofp %v24 : i1 to f32
    %v26 = arith.mulf %v22, %v25 : f32
    %v27 = arith.addf %v26, %acc20 : f32
    linalg.yield %v27 : f32
  } -> tensor<?x2x?xf32>
  %e29 = tensor.empty(%batch, %queries, %keys) : tensor<?x2x?x?xf32>
  %t42 = linalg.generic {indexing_maps = [affine_map<(b, h, i, j) -> (b, h, i, j)>, affine_map<(b, h, i, j) -> (b, h, i)>, affine_map<(b, h, i, j) -> (j)>, affine_map<(b, h, i, j) -> (b, h, i)>, affine_map<(b, h, i, j) -> (b, h, i, j)>], iterator_types = ["parallel", "parallel", "parallel", "parallel"]}
      ins(%product6, %t13, %mask0, %t28 : tensor<?x2x?x?xf32>, tensor<?x2x?xf32>, tensor<?xf32>, tensor<?x2x?xf32>) outs(%e29 : tensor<?x2x?x?xf32>) {
  ^bb0(%in30: f32, %in31: f32, %in32: f32, %in33: f32, %acc34: f32):
    %v35 = arith.subf %in30, %in31 : f32
    %v36 = math.exp %v35 : f32
    %c37 = arith.constant 0.00000000e+00 : f32
    %v38 = arith.cmpf une, %in32, %c37 : f32
    %v39 = arith.uitofp %v38 : i1 to f32
    %v40 = arith.mulf %v36, %v39 : f32
    %v41 = arith.divf %v40, %in33 : f32
    linalg.yield %v41 : f32
  } -> tensor<?x2x?x?xf32>
  %e43 = tensor.empty(%batch, %queries) : tensor<?x2x?x4xf32>
  %c44 = arith.constant 0.00000000e+00 : f32
  %f45 = linalg.fill ins(%c44 : f32) outs(%e43 : tensor<?x2x?x4xf32>) -> tensor<?x2x?x4xf32>
  %product46 = linalg.contract indexing_maps = [affine_map<(b, h, i, e, j) -> (b, h, i, j)>, affine_map<(b, h, i, e, j) -> (b, h, j, e)>, affine_map<(b, h, i, e, j) -> (b, h, i, e)>]
      ins(%t42, %v : tensor<?x2x?x?xf32>, tensor<?x2x?x4xf32>) outs(%f45 : tensor<?x2x?x4xf32>) -> tensor<?x2x?x4xf32>
  return %product46 : tensor<?x2x?x4xf32>
}
