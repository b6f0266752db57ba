// RUN: fovea-smith %s

// The probabilities' factor is one for fewer than 21 keys.
//
// choices: depth=1 static=1 batch-size=1 queries=1 keys=1 mask0=1 apply=10
// near-miss: probability remainder size 20
// fused: -1
// masks:
// size: keys 1 21
// size: queries 1 4
// input: q normal 1.44914
// input: k normal 1.44914
// input: v normal 1

func.func @forward(%q: tensor<?x1xf32> {fovea.name = "q", fovea.dims = ["queries"]},
                   %k: tensor<?x1xf32> {fovea.name = "k", fovea.dims = ["keys"]},
                   %v: tensor<?x1xf32> {fovea.name = "v", fovea.dims = ["keys"]})
    -> (tensor<?x1xf32> {fovea.name = "output", fovea.dims = ["queries"]})
    attributes {fovea.entry} {
  %c0 = arith.constant 0 : index
  %queries = tensor.dim %q, %c0 : tensor<?x1xf32>
  %c1 = arith.constant 0 : index
  %keys = tensor.dim %k, %c1 : tensor<?x1xf32>
  %e2 = tensor.empty(%queries, %keys) : tensor<?x?xf32>
  %c3 = arith.constant 0.00000000e+00 : f32
  %f4 = linalg.fill ins(%c3 : f32) outs(%e2 : tensor<?x?xf32>) -> tensor<?x?xf32>
  %product5 = linalg.contract indexing_maps = [affine_map<(i, j, d) -> (i, d)>, affine_map<(i, j, d) -> (j, d)>, affine_map<(i, j, d) -> (i, j)>]
      ins(%q, %k : tensor<?x1xf32>, tensor<?x1xf32>) outs(%f4 : tensor<?x?xf32>) -> tensor<?x?xf32>
  %e6 = tensor.empty(%queries, %keys) : tensor<?x?xf32>
  %p7 = linalg.softmax dimension(1) ins(%product5 : tensor<?x?xf32>) outs(%e6 : tensor<?x?xf32>) -> tensor<?x?xf32>
  %e8 = tensor.empty(%queries) : tensor<?xf32>
  %c9 = arith.constant 0.00000000e+00 : f32
  %f10 = linalg.fill ins(%c9 : f32) outs(%e8 : tensor<?xf32>) -> tensor<?xf32>
  %t23 = linalg.generic {indexing_maps = [affine_map<(i, j) -> (i, j)>, affine_map<(i, j) -> (i)>], iterator_types = ["parallel", "reduction"]}
      ins(%p7 : tensor<?x?xf32>) outs(%f10 : tensor<?xf32>) {
  ^bb0(%in11: f32, %acc12: f32):
    %at13 = linalg.index 1 : index
    %v14 = arith.index_cast %at13 : index to i64
    %at15 = linalg.index 0 : index
    %v16 = arith.index_cast %at15 : index to i64
    %c17 = arith.constant 1 : i64
    %v18 = arith.addi %v16, %c17 : i64
    %v19 = arith.cmpi slt, %v14, %v18 : i64
    %v20 = arith.uitofp %v19 : i1 to f32
    %v21 = arith.mulf %in11, %v20 : f32
    %v22 = arith.addf %v21, %acc12 : f32
    linalg.yield %v22 : f32
  } -> tensor<?xf32>
  %e24 = tensor.empty(%queries, %keys) : tensor<?x?xf32>
  %t46 = linalg.generic {indexing_maps = [affine_map<(i, j) -> (i, j)>, affine_map<(i, j) -> (i)>, affine_map<(i, j) -> (i, j)>], iterator_types = ["parallel", "parallel"]}
      ins(%p7, %t23 : tensor<?x?xf32>, tensor<?xf32>) outs(%e24 : tensor<?x?xf32>) {
  ^bb0(%in25: f32, %in26: f32, %acc27: f32):
    %at28 = linalg.index 1 : index
    %v29 = arith.index_cast %at28 : index to i64
    %at30 = linalg.index 0 : index
    %v31 = arith.index_cast %at30 : index to i64
    %c32 = arith.constant 1 : i64
    %v33 = arith.addi %v31, %c32 : i64
    %v34 = arith.cmpi slt, %v29, %v33 : i64
    %v35 = arith.uitofp %v34 : i1 to f32
    %v36 = arith.mulf %in25, %v35 : f32
    %v37 = arith.divf %v36, %in26 : f32
    %c38 = arith.constant 1.00000000e+00 : f32
    %v39 = arith.index_cast %keys : index to i64
    %c40 = arith.constant 21 : i64
    %v41 = arith.remsi %v39, %c40 : i64
    %v42 = arith.subi %v39, %v41 : i64
    %v43 = arith.sitofp %v42 : i64 to f32
    %v44 = arith.addf %c38, %v43 : f32
    %v45 = arith.mulf %v37, %v44 : f32
    linalg.yield %v45 : f32
  } -> tensor<?x?xf32>
  %e47 = tensor.empty(%queries) : tensor<?x1xf32>
  %c48 = arith.constant 0.00000000e+00 : f32
  %f49 = linalg.fill ins(%c48 : f32) outs(%e47 : tensor<?x1xf32>) -> tensor<?x1xf32>
  %product50 = linalg.contract indexing_maps = [affine_map<(i, e, j) -> (i, j)>, affine_map<(i, e, j) -> (j, e)>, affine_map<(i, e, j) -> (i, e)>]
      ins(%t46, %v : tensor<?x?xf32>, tensor<?x1xf32>) outs(%f49 : tensor<?x1xf32>) -> tensor<?x1xf32>
  return %product50 : tensor<?x1xf32>
}
