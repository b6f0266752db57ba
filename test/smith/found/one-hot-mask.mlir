// RUN: fovea-smith %s

// A mask that leaves each row one key was taken for the weights, which are returned.
//
// choices: batch=1 depth=1 batch-size=1 queries=5 keys=6 mask0=5 apply=10 returns=1 style=2 spelling=621658117
// fused: -1
// masks: causal? window
// size: batch 1 7
// size: keys 6 11
// size: queries 5 10
// input: q normal 1
// input: k normal 1
// input: v normal 1

func.func @forward(%q: tensor<?x?x1xf32> {fovea.name = "q", fovea.dims = ["batch", "queries"]},
                   %k: tensor<?x?x1xf32> {fovea.name = "k", fovea.dims = ["batch", "keys"]},
                   %v: tensor<?x?x1xf32> {fovea.name = "v", fovea.dims = ["batch", "keys"]})
    -> (tensor<?x?x1xf32> {fovea.name = "output", fovea.dims = ["batch", "queries"]}, tensor<?x?x?xf32> {fovea.name = "weights", fovea.dims = ["batch", "queries", "keys"]})
    attributes {fovea.entry} {
  %c0 = arith.constant 0 : index
  %batch = tensor.dim %q, %c0 : tensor<?x?x1xf32>
  %c1 = arith.constant 1 : index
  %queries = tensor.dim %q, %c1 : tensor<?x?x1xf32>
  %c2 = arith.constant 1 : index
  %keys = tensor.dim %k, %c2 : tensor<?x?x1xf32>
  %e3 = tensor.empty(%batch, %queries, %keys) : tensor<?x?x?xf32>
  %c4 = arith.constant 0.00000000e+00 : f32
  %f5 = linalg.fill ins(%c4 : f32) outs(%e3 : tensor<?x?x?xf32>) -> tensor<?x?x?xf32>
  %product6 = linalg.contract indexing_maps = [affine_map<(b, i, j, d) -> (b, i, d)>, affine_map<(b, i, j, d) -> (b, j, d)>, affine_map<(b, i, j, d) -> (b, i, j)>]
      ins(%q, %k : tensor<?x?x1xf32>, tensor<?x?x1xf32>) outs(%f5 : tensor<?x?x?xf32>) -> tensor<?x?x?xf32>
  %e7 = tensor.empty(%batch, %queries, %keys) : tensor<?x?x?xf32>
  %p8 = linalg.softmax dimension(2) ins(%product6 : tensor<?x?x?xf32>) outs(%e7 : tensor<?x?x?xf32>) -> tensor<?x?x?xf32>
  %e9 = tensor.empty(%queries) : tensor<?xi64>
  %t13 = linalg.generic {indexing_maps = [affine_map<(i) -> (i)>], iterator_types = ["parallel"]}
      outs(%e9 : tensor<?xi64>) {
  ^bb0(%acc10: i64):
    %at11 = linalg.index 0 : index
    %v12 = arith.index_cast %at11 : index to i64
    linalg.yield %v12 : i64
  } -> tensor<?xi64>
  %e14 = tensor.empty(%keys) : tensor<?xi64>
  %t18 = linalg.generic {indexing_maps = [affine_map<(j) -> (j)>], iterator_types = ["parallel"]}
      outs(%e14 : tensor<?xi64>) {
  ^bb0(%acc15: i64):
    %at16 = linalg.index 0 : index
    %v17 = arith.index_cast %at16 : index to i64
    linalg.yield %v17 : i64
  } -> tensor<?xi64>
  %e19 = tensor.empty(%keys) : tensor<?xi64>
  %t24 = linalg.generic {indexing_maps = [affine_map<(j) -> (j)>, affine_map<(j) -> (j)>], iterator_types = ["parallel"]}
      ins(%t18 : tensor<?xi64>) outs(%e19 : tensor<?xi64>) {
  ^bb0(%in20: i64, %acc21: i64):
    %c22 = arith.constant 1 : i64
    %v23 = arith.addi %in20, %c22 : i64
    linalg.yield %v23 : i64
  } -> tensor<?xi64>
  %e25 = tensor.empty(%keys, %queries) : tensor<?x?xi1>
  %t30 = linalg.generic {indexing_maps = [affine_map<(j, i) -> (i)>, affine_map<(j, i) -> (j)>, affine_map<(j, i) -> (j, i)>], iterator_types = ["parallel", "parallel"]}
      ins(%t13, %t24 : tensor<?xi64>, tensor<?xi64>) outs(%e25 : tensor<?x?xi1>) {
  ^bb0(%in26: i64, %in27: i64, %acc28: i1):
    %v29 = arith.cmpi slt, %in26, %in27 : i64
    linalg.yield %v29 : i1
  } -> tensor<?x?xi1>
  %e31 = tensor.empty(%queries, %keys) : tensor<?x?xi1>
  %t38 = linalg.generic {indexing_maps = [affine_map<(i, j) -> (j, i)>, affine_map<(i, j) -> (j)>, affine_map<(i, j) -> (i)>, affine_map<(i, j) -> (i, j)>], iterator_types = ["parallel", "parallel"]}
      ins(%t30, %t18, %t13 : tensor<?x?xi1>, tensor<?xi64>, tensor<?xi64>) outs(%e31 : tensor<?x?xi1>) {
  ^bb0(%in32: i1, %in33: i64, %in34: i64, %acc35: i1):
    %v36 = arith.cmpi sle, %in33, %in34 : i64
    %v37 = arith.andi %in32, %v36 : i1
    linalg.yield %v37 : i1
  } -> tensor<?x?xi1>
  %e39 = tensor.empty(%queries, %keys) : tensor<?x?xf32>
  %t43 = linalg.generic {indexing_maps = [affine_map<(i, j) -> (i, j)>, affine_map<(i, j) -> (i, j)>], iterator_types = ["parallel", "parallel"]}
      ins(%t38 : tensor<?x?xi1>) outs(%e39 : tensor<?x?xf32>) {
  ^bb0(%in40: i1, %acc41: f32):
    %v42 = arith.uitofp %in40 : i1 to f32
    linalg.yield %v42 : f32
  } -> tensor<?x?xf32>
  %e44 = tensor.empty(%batch, %queries) : tensor<?x?xf32>
  %c45 = arith.constant 0.00000000e+00 : f32
  %f46 = linalg.fill ins(%c45 : f32) outs(%e44 : tensor<?x?xf32>) -> tensor<?x?xf32>
  %t52 = linalg.generic {indexing_maps = [affine_map<(j, i, b) -> (b, i, j)>, affine_map<(j, i, b) -> (i, j)>, affine_map<(j, i, b) -> (b, i)>], iterator_types = ["reduction", "parallel", "parallel"]}
      ins(%p8, %t43 : tensor<?x?x?xf32>, tensor<?x?xf32>) outs(%f46 : tensor<?x?xf32>) {
  ^bb0(%in47: f32, %in48: f32, %acc49: f32):
    %v50 = arith.mulf %in47, %in48 : f32
    %v51 = arith.addf %v50, %acc49 : f32
    linalg.yield %v51 : f32
  } -> tensor<?x?xf32>
  %e53 = tensor.empty(%batch, %queries, %keys) : tensor<?x?x?xf32>
  %t58 = linalg.generic {indexing_maps = [affine_map<(b, i, j) -> (b, i, j)>, affine_map<(b, i, j) -> (i, j)>, affine_map<(b, i, j) -> (b, i, j)>], iterator_types = ["parallel", "parallel", "parallel"]}
      ins(%p8, %t43 : tensor<?x?x?xf32>, tensor<?x?xf32>) outs(%e53 : tensor<?x?x?xf32>) {
  ^bb0(%in54: f32, %in55: f32, %acc56: f32):
    %v57 = arith.mulf %in54, %in55 : f32
    linalg.yield %v57 : f32
  } -> tensor<?x?x?xf32>
  %e59 = tensor.empty(%batch, %queries, %keys) : tensor<?x?x?xf32>
  %t64 = linalg.generic {indexing_maps = [affine_map<(b, i, j) -> (b, i, j)>, affine_map<(b, i, j) -> (b, i)>, affine_map<(b, i, j) -> (b, i, j)>], iterator_types = ["parallel", "parallel", "parallel"]}
      ins(%t58, %t52 : tensor<?x?x?xf32>, tensor<?x?xf32>) outs(%e59 : tensor<?x?x?xf32>) {
  ^bb0(%in60: f32, %in61: f32, %acc62: f32):
    %v63 = arith.divf %in60, %in61 : f32
    linalg.yield %v63 : f32
  } -> tensor<?x?x?xf32>
  %e65 = tensor.empty(%batch, %queries) : tensor<?x?x1xf32>
  %c66 = arith.constant 0.00000000e+00 : f32
  %f67 = linalg.fill ins(%c66 : f32) outs(%e65 : tensor<?x?x1xf32>) -> tensor<?x?x1xf32>
  %product68 = linalg.contract indexing_maps = [affine_map<(b, i, e, j) -> (b, i, j)>, affine_map<(b, i, e, j) -> (b, j, e)>, affine_map<(b, i, e, j) -> (b, i, e)>]
      ins(%t64, %v : tensor<?x?x?xf32>, tensor<?x?x1xf32>) outs(%f67 : tensor<?x?x1xf32>) -> tensor<?x?x1xf32>
  return %product68, %t64 : tensor<?x?x1xf32>, tensor<?x?x?xf32>
}
