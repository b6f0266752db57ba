// RUN: fovea-smith %s

// A sum of zero becomes one, so a row without keys is zero although nothing subtracts a maximum.
//
// choices: batch=1 heads=2 depth=4 batch-size=1 queries=9 keys=6 mask0=7 apply=1 softmax=1 shift=1 guard=2
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
  %e7 = tensor.empty(%batch, %queries, %keys) : tensor<?x2x?x?xf32>
  %t17 = linalg.generic {indexing_maps = [affine_map<(b, h, i, j) -> (b, h, i, j)>, affine_map<(b, h, i, j) -> (b, h, i, j)>], iterator_types = ["parallel", "parallel", "parallel", "parallel"]}
      ins(%product6 : tensor<?x2x?x?xf32>) outs(%e7 : tensor<?x2x?x?xf32>) {
  ^bb0(%in8: f32, %acc9: f32):
    %at10 = linalg.index 3 : index
    %v11 = arith.index_cast %at10 : index to i64
    %at12 = linalg.index 2 : index
    %v13 = arith.index_cast %at12 : index to i64
    %v14 = arith.cmpi slt, %v11, %v13 : i64
    %c15 = arith.constant -1.00000000e+09 : f32
    %v16 = arith.select %v14, %in8, %c15 : f32
    linalg.yield %v16 : f32
  } -> tensor<?x2x?x?xf32>
  %e18 = tensor.empty(%batch, %queries) : tensor<?x2x?xf32>
  %c19 = arith.constant 0.00000000e+00 : f32
  %f20 = linalg.fill ins(%c19 : f32) outs(%e18 : tensor<?x2x?xf32>) -> tensor<?x2x?xf32>
  %t25 = linalg.generic {indexing_maps = [affine_map<(b, h, i, j) -> (b, h, i, j)>, affine_map<(b, h, i, j) -> (b, h, i)>], iterator_types = ["parallel", "parallel", "parallel", "reduction"]}
      ins(%t17 : tensor<?x2x?x?xf32>) outs(%f20 : tensor<?x2x?xf32>) {
  ^bb0(%in21: f32, %acc22: f32):
    %v23 = math.exp %in21 : f32
    %v24 = arith.addf %v23, %acc22 : f32
    linalg.yield %v24 : f32
  } -> tensor<?x2x?xf32>
  %e26 = tensor.empty(%batch, %queries, %keys) : tensor<?x2x?x?xf32>
  %t36 = linalg.generic {indexing_maps = [affine_map<(b, h, i, j) -> (b, h, i, j)>, affine_map<(b, h, i, j) -> (b, h, i)>, affine_map<(b, h, i, j) -> (b, h, i, j)>], iterator_types = ["parallel", "parallel", "parallel", "parallel"]}
      ins(%t17, %t25 : tensor<?x2x?x?xf32>, tensor<?x2x?xf32>) outs(%e26 : tensor<?x2x?x?xf32>) {
  ^bb0(%in27: f32, %in28: f32, %acc29: f32):
    %v30 = math.exp %in27 : f32
    %c31 = arith.constant 0.00000000e+00 : f32
    %v32 = arith.cmpf oeq, %in28, %c31 : f32
    %c33 = arith.constant 1.00000000e+00 : f32
    %v34 = arith.select %v32, %c33, %in28 : f32
    %v35 = arith.divf %v30, %v34 : f32
    linalg.yield %v35 : f32
  } -> tensor<?x2x?x?xf32>
  %e37 = tensor.empty(%batch, %queries) : tensor<?x2x?x4xf32>
  %c38 = arith.constant 0.00000000e+00 : f32
  %f39 = linalg.fill ins(%c38 : f32) outs(%e37 : tensor<?x2x?x4xf32>) -> tensor<?x2x?x4xf32>
  %product40 = linalg.contract indexing_maps = [affine_map<(b, h, i, e, j) -> (b, h, i, j)>, affine_map<(b, h, i, e, j) -> (b, h, j, e)>, affine_map<(b, h, i, e, j) -> (b, h, i, e)>]
      ins(%t36, %v : tensor<?x2x?x?xf32>, tensor<?x2x?x4xf32>) outs(%f39 : tensor<?x2x?x4xf32>) -> tensor<?x2x?x4xf32>
  return %product40 : tensor<?x2x?x4xf32>
}
