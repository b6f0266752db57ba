// RUN: fovea-smith %s

// The same as distance-without-maximum, in 32 bits.
//
// choices: depth=2 static=1 batch-size=1 queries=1 keys=1 rule0=4 mask0=1 apply=1 softmax=1 shift=1 guard=1 spelling=1
// fused: 1
// masks: causal
// size: keys 1 6
// size: queries 1 2
// input: q normal 1
// input: k normal 1
// input: v normal 1

func.func @forward(%q: tensor<?x2xf32> {fovea.name = "q", fovea.dims = ["queries"]},
                   %k: tensor<?x2xf32> {fovea.name = "k", fovea.dims = ["keys"]},
                   %v: tensor<?x2xf32> {fovea.name = "v", fovea.dims = ["keys"]})
    -> (tensor<?x2xf32> {fovea.name = "output", fovea.dims = ["queries"]})
    attributes {fovea.entry} {
  %c0 = arith.constant 0 : index
  %queries = tensor.dim %q, %c0 : tensor<?x2xf32>
  %c1 = arith.constant 0 : index
  %keys = tensor.dim %k, %c1 : tensor<?x2xf32>
  %e2 = tensor.empty(%queries, %keys) : tensor<?x?xf32>
  %c3 = arith.constant 0.00000000e+00 : f32
  %f4 = linalg.fill ins(%c3 : f32) outs(%e2 : tensor<?x?xf32>) -> tensor<?x?xf32>
  %product5 = linalg.contract indexing_maps = [affine_map<(i, j, d) -> (i, d)>, affine_map<(i, j, d) -> (j, d)>, affine_map<(i, j, d) -> (i, j)>]
      ins(%q, %k : tensor<?x2xf32>, tensor<?x2xf32>) outs(%f4 : tensor<?x?xf32>) -> tensor<?x?xf32>
  %e6 = tensor.empty(%queries, %keys) : tensor<?x?xf32>
  %t27 = linalg.generic {indexing_maps = [affine_map<(i, j) -> (i, j)>, affine_map<(i, j) -> (i, j)>], iterator_types = ["parallel", "parallel"]}
      ins(%product5 : tensor<?x?xf32>) outs(%e6 : tensor<?x?xf32>) {
  ^bb0(%in7: f32, %acc8: f32):
    %at9 = linalg.index 0 : index
    %v10 = arith.index_cast %at9 : index to i32
    %at11 = linalg.index 1 : index
    %v12 = arith.index_cast %at11 : index to i32
    %v13 = arith.subi %v10, %v12 : i32
    %c14 = arith.constant 0 : i32
    %v15 = arith.cmpi sge, %v13, %c14 : i32
    %c16 = arith.constant 2.50000000e-01 : f32
    %at17 = linalg.index 0 : index
    %v18 = arith.index_cast %at17 : index to i32
    %at19 = linalg.index 1 : index
    %v20 = arith.index_cast %at19 : index to i32
    %v21 = arith.subi %v18, %v20 : i32
    %v22 = arith.sitofp %v21 : i32 to f32
    %v23 = arith.mulf %c16, %v22 : f32
    %v24 = arith.addf %in7, %v23 : f32
    %c25 = arith.constant -1.00000000e+09 : f32
    %v26 = arith.select %v15, %v24, %c25 : f32
    linalg.yield %v26 : f32
  } -> tensor<?x?xf32>
  %e28 = tensor.empty(%queries, %keys) : tensor<?x?xf32>
  %t32 = linalg.generic {indexing_maps = [affine_map<(i, j) -> (i, j)>, affine_map<(i, j) -> (i, j)>], iterator_types = ["parallel", "parallel"]}
      ins(%t27 : tensor<?x?xf32>) outs(%e28 : tensor<?x?xf32>) {
  ^bb0(%in29: f32, %acc30: f32):
    %v31 = math.exp %in29 : f32
    linalg.yield %v31 : f32
  } -> tensor<?x?xf32>
  %e33 = tensor.empty(%queries) : tensor<?xf32>
  %c34 = arith.constant 0.00000000e+00 : f32
  %f35 = linalg.fill ins(%c34 : f32) outs(%e33 : tensor<?xf32>) -> tensor<?xf32>
  %r36 = linalg.reduce { arith.addf } ins(%t32 : tensor<?x?xf32>) outs(%f35 : tensor<?xf32>) dimensions = [1]
  %e37 = tensor.empty(%queries, %keys) : tensor<?x?xf32>
  %t45 = linalg.generic {indexing_maps = [affine_map<(i, j) -> (i, j)>, affine_map<(i, j) -> (i)>, affine_map<(i, j) -> (i, j)>], iterator_types = ["parallel", "parallel"]}
      ins(%t32, %r36 : tensor<?x?xf32>, tensor<?xf32>) outs(%e37 : tensor<?x?xf32>) {
  ^bb0(%in38: f32, %in39: f32, %acc40: f32):
    %v41 = arith.divf %in38, %in39 : f32
    %v42 = arith.cmpf une, %v41, %v41 : f32
    %c43 = arith.constant 0.00000000e+00 : f32
    %v44 = arith.select %v42, %c43, %v41 : f32
    linalg.yield %v44 : f32
  } -> tensor<?x?xf32>
  %e46 = tensor.empty(%queries) : tensor<?x2xf32>
  %c47 = arith.constant 0.00000000e+00 : f32
  %f48 = linalg.fill ins(%c47 : f32) outs(%e46 : tensor<?x2xf32>) -> tensor<?x2xf32>
  %product49 = linalg.contract indexing_maps = [affine_map<(i, e, j) -> (i, j)>, affine_map<(i, e, j) -> (j, e)>, affine_map<(i, e, j) -> (i, e)>]
      ins(%t45, %v : tensor<?x?xf32>, tensor<?x2xf32>) outs(%f48 : tensor<?x2xf32>) -> tensor<?x2xf32>
  return %product49 : tensor<?x2xf32>
}
