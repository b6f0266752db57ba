// RUN: fovea-smith %s

// The factor of a score that is blended spells its mask in another way.
//
// choices: batch=2 depth=2 batch-size=1 queries=5 keys=6 scale=1 mask0=4 mask1=11 apply=7 style=2 spelling=927853216
// fused: 1
// masks: causal|dense prefix
// size: batch 1 5
// size: keys 6 12
// size: queries 5 8
// size: windows 2 6
// input: q normal 1
// input: k normal 1
// input: v normal 1
// input: length0 below 6
// input: length1 upto keys 0

func.func @forward(%q: tensor<?x?x?x2xf32> {fovea.name = "q", fovea.dims = ["batch", "windows", "queries"]},
                   %k: tensor<?x?x?x2xf32> {fovea.name = "k", fovea.dims = ["batch", "windows", "keys"]},
                   %v: tensor<?x?x?x2xf32> {fovea.name = "v", fovea.dims = ["batch", "windows", "keys"]},
                   %length0: tensor<?xi64> {fovea.name = "length0", fovea.dims = ["batch"]},
                   %length1: tensor<?xi64> {fovea.name = "length1", fovea.dims = ["batch"]})
    -> (tensor<?x?x?x2xf32> {fovea.name = "output", fovea.dims = ["batch", "windows", "queries"]})
    attributes {fovea.entry} {
  %c0 = arith.constant 0 : index
  %batch = tensor.dim %q, %c0 : tensor<?x?x?x2xf32>
  %c1 = arith.constant 1 : index
  %windows = tensor.dim %q, %c1 : tensor<?x?x?x2xf32>
  %c2 = arith.constant 2 : index
  %queries = tensor.dim %q, %c2 : tensor<?x?x?x2xf32>
  %c3 = arith.constant 2 : index
  %keys = tensor.dim %k, %c3 : tensor<?x?x?x2xf32>
  %e4 = tensor.empty(%batch, %windows, %queries, %keys) : tensor<?x?x?x?xf32>
  %c5 = arith.constant 0.00000000e+00 : f32
  %f6 = linalg.fill ins(%c5 : f32) outs(%e4 : tensor<?x?x?x?xf32>) -> tensor<?x?x?x?xf32>
  %product7 = linalg.contract indexing_maps = [affine_map<(b, c, i, j, d) -> (b, c, i, d)>, affine_map<(b, c, i, j, d) -> (b, c, j, d)>, affine_map<(b, c, i, j, d) -> (b, c, i, j)>]
      ins(%q, %k : tensor<?x?x?x2xf32>, tensor<?x?x?x2xf32>) outs(%f6 : tensor<?x?x?x?xf32>) -> tensor<?x?x?x?xf32>
  %e8 = tensor.empty(%keys) : tensor<?xi32>
  %t12 = linalg.generic {indexing_maps = [affine_map<(j) -> (j)>], iterator_types = ["parallel"]}
      outs(%e8 : tensor<?xi32>) {
  ^bb0(%acc9: i32):
    %at10 = linalg.index 0 : index
    %v11 = arith.index_cast %at10 : index to i32
    linalg.yield %v11 : i32
  } -> tensor<?xi32>
  %e13 = tensor.empty(%batch) : tensor<?xi32>
  %t17 = linalg.generic {indexing_maps = [affine_map<(b) -> (b)>, affine_map<(b) -> (b)>], iterator_types = ["parallel"]}
      ins(%length0 : tensor<?xi64>) outs(%e13 : tensor<?xi32>) {
  ^bb0(%in14: i64, %acc15: i32):
    %v16 = arith.trunci %in14 : i64 to i32
    linalg.yield %v16 : i32
  } -> tensor<?xi32>
  %e18 = tensor.empty(%batch, %queries) : tensor<?x?xi32>
  %t24 = linalg.generic {indexing_maps = [affine_map<(b, i) -> (b)>, affine_map<(b, i) -> (b, i)>], iterator_types = ["parallel", "parallel"]}
      ins(%t17 : tensor<?xi32>) outs(%e18 : tensor<?x?xi32>) {
  ^bb0(%in19: i32, %acc20: i32):
    %at21 = linalg.index 1 : index
    %v22 = arith.index_cast %at21 : index to i32
    %v23 = arith.addi %v22, %in19 : i32
    linalg.yield %v23 : i32
  } -> tensor<?x?xi32>
  %e25 = tensor.empty(%queries, %keys) : tensor<?x?xi1>
  %t30 = linalg.generic {indexing_maps = [affine_map<(j, i) -> (i, j)>], iterator_types = ["parallel", "parallel"]}
      outs(%e25 : tensor<?x?xi1>) {
  ^bb0(%acc26: i1):
    %at27 = linalg.index 0 : index
    %at28 = linalg.index 1 : index
    %v29 = arith.cmpi sgt, %at27, %at28 : index
    linalg.yield %v29 : i1
  } -> tensor<?x?xi1>
  %e31 = tensor.empty(%queries, %keys) : tensor<?x?xi1>
  %t36 = linalg.generic {indexing_maps = [affine_map<(i, j) -> (i, j)>, affine_map<(i, j) -> (i, j)>], iterator_types = ["parallel", "parallel"]}
      ins(%t30 : tensor<?x?xi1>) outs(%e31 : tensor<?x?xi1>) {
  ^bb0(%in32: i1, %acc33: i1):
    %c34 = arith.constant true
    %v35 = arith.xori %in32, %c34 : i1
    linalg.yield %v35 : i1
  } -> tensor<?x?xi1>
  %e37 = tensor.empty(%batch, %keys) : tensor<?x?xi1>
  %t43 = linalg.generic {indexing_maps = [affine_map<(b, j) -> (b)>, affine_map<(b, j) -> (b, j)>], iterator_types = ["parallel", "parallel"]}
      ins(%length1 : tensor<?xi64>) outs(%e37 : tensor<?x?xi1>) {
  ^bb0(%in38: i64, %acc39: i1):
    %at40 = linalg.index 1 : index
    %v41 = arith.index_cast %in38 : i64 to index
    %v42 = arith.cmpi slt, %at40, %v41 : index
    linalg.yield %v42 : i1
  } -> tensor<?x?xi1>
  %e44 = tensor.empty(%batch, %queries, %keys) : tensor<?x?x?xi1>
  %t49 = linalg.generic {indexing_maps = [affine_map<(b, i, j) -> (i, j)>, affine_map<(b, i, j) -> (b, j)>, affine_map<(b, i, j) -> (b, i, j)>], iterator_types = ["parallel", "parallel", "parallel"]}
      ins(%t36, %t43 : tensor<?x?xi1>, tensor<?x?xi1>) outs(%e44 : tensor<?x?x?xi1>) {
  ^bb0(%in45: i1, %in46: i1, %acc47: i1):
    %v48 = arith.ori %in45, %in46 : i1
    linalg.yield %v48 : i1
  } -> tensor<?x?x?xi1>
  %e50 = tensor.empty(%batch, %queries, %keys) : tensor<?x?x?xi1>
  %t57 = linalg.generic {indexing_maps = [affine_map<(b, i, j) -> (j)>, affine_map<(b, i, j) -> (b, i)>, affine_map<(b, i, j) -> (b, i, j)>, affine_map<(b, i, j) -> (b, i, j)>], iterator_types = ["parallel", "parallel", "parallel"]}
      ins(%t12, %t24, %t49 : tensor<?xi32>, tensor<?x?xi32>, tensor<?x?x?xi1>) outs(%e50 : tensor<?x?x?xi1>) {
  ^bb0(%in51: i32, %in52: i32, %in53: i1, %acc54: i1):
    %v55 = arith.cmpi sle, %in51, %in52 : i32
    %v56 = arith.andi %v55, %in53 : i1
    linalg.yield %v56 : i1
  } -> tensor<?x?x?xi1>
  %e58 = tensor.empty(%batch, %windows, %queries, %keys) : tensor<?x?x?x?xf32>
  %t66 = linalg.generic {indexing_maps = [affine_map<(b, c, i, j) -> (b, c, i, j)>, affine_map<(b, c, i, j) -> (b, i, j)>, affine_map<(b, c, i, j) -> (b, c, i, j)>], iterator_types = ["parallel", "parallel", "parallel", "parallel"]}
      ins(%product7, %t57 : tensor<?x?x?x?xf32>, tensor<?x?x?xi1>) outs(%e58 : tensor<?x?x?x?xf32>) {
  ^bb0(%in59: f32, %in60: i1, %acc61: f32):
    %c62 = arith.constant 7.07106781e-01 : f32
    %v63 = arith.mulf %in59, %c62 : f32
    %v64 = arith.uitofp %in60 : i1 to f32
    %v65 = arith.mulf %v63, %v64 : f32
    linalg.yield %v65 : f32
  } -> tensor<?x?x?x?xf32>
  %e67 = tensor.empty(%batch, %queries, %keys) : tensor<?x?x?xf32>
  %t73 = linalg.generic {indexing_maps = [affine_map<(b, i, j) -> (b, i, j)>, affine_map<(b, i, j) -> (b, i, j)>], iterator_types = ["parallel", "parallel", "parallel"]}
      ins(%t57 : tensor<?x?x?xi1>) outs(%e67 : tensor<?x?x?xf32>) {
  ^bb0(%in68: i1, %acc69: f32):
    %c70 = arith.constant 1.00000000e+00 : f32
    %v71 = arith.uitofp %in68 : i1 to f32
    %v72 = arith.subf %c70, %v71 : f32
    linalg.yield %v72 : f32
  } -> tensor<?x?x?xf32>
  %e74 = tensor.empty(%batch, %queries, %keys) : tensor<?x?x?xf32>
  %t79 = linalg.generic {indexing_maps = [affine_map<(b, i, j) -> (b, i, j)>, affine_map<(b, i, j) -> (b, i, j)>], iterator_types = ["parallel", "parallel", "parallel"]}
      ins(%t73 : tensor<?x?x?xf32>) outs(%e74 : tensor<?x?x?xf32>) {
  ^bb0(%in75: f32, %acc76: f32):
    %c77 = arith.constant -1.00000000e+09 : f32
    %v78 = arith.mulf %in75, %c77 : f32
    linalg.yield %v78 : f32
  } -> tensor<?x?x?xf32>
  %e80 = tensor.empty(%batch, %windows, %queries, %keys) : tensor<?x?x?x?xf32>
  %t85 = linalg.generic {indexing_maps = [affine_map<(b, c, i, j) -> (b, c, i, j)>, affine_map<(b, c, i, j) -> (b, i, j)>, affine_map<(b, c, i, j) -> (b, c, i, j)>], iterator_types = ["parallel", "parallel", "parallel", "parallel"]}
      ins(%t66, %t79 : tensor<?x?x?x?xf32>, tensor<?x?x?xf32>) outs(%e80 : tensor<?x?x?x?xf32>) {
  ^bb0(%in81: f32, %in82: f32, %acc83: f32):
    %v84 = arith.addf %in81, %in82 : f32
    linalg.yield %v84 : f32
  } -> tensor<?x?x?x?xf32>
  %e86 = tensor.empty(%batch, %windows, %queries, %keys) : tensor<?x?x?x?xf32>
  %p87 = linalg.softmax dimension(3) ins(%t85 : tensor<?x?x?x?xf32>) outs(%e86 : tensor<?x?x?x?xf32>) -> tensor<?x?x?x?xf32>
  %e88 = tensor.empty(%batch, %windows, %queries) : tensor<?x?x?x2xf32>
  %c89 = arith.constant 0.00000000e+00 : f32
  %f90 = linalg.fill ins(%c89 : f32) outs(%e88 : tensor<?x?x?x2xf32>) -> tensor<?x?x?x2xf32>
  %product91 = linalg.contract indexing_maps = [affine_map<(b, c, i, e, j) -> (b, c, i, j)>, affine_map<(b, c, i, e, j) -> (b, c, j, e)>, affine_map<(b, c, i, e, j) -> (b, c, i, e)>]
      ins(%p87, %v : tensor<?x?x?x?xf32>, tensor<?x?x?x2xf32>) outs(%f90 : tensor<?x?x?x2xf32>) -> tensor<?x?x?x2xf32>
  return %product91 : tensor<?x?x?x2xf32>
}
