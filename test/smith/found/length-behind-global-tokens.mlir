// RUN: fovea-smith %s

// Lengths that were drawn ended before the first key that may be seen.
//
// choices: batch=2 depth=4 batch-size=1 queries=5 keys=9 mask0=10 mask1=13 join=2 apply=9 softmax=1 spelling=232705283
// fused: 1
// masks: *
// size: batch 1 2
// size: keys 9 10
// size: queries 5 9
// size: windows 2 8
// input: q normal 1
// input: k normal 1
// input: v normal 1
// input: length0 upto keys 1

func.func @forward(%q: tensor<?x?x?x4xf32> {fovea.name = "q", fovea.dims = ["batch", "windows", "queries"]},
                   %k: tensor<?x?x?x4xf32> {fovea.name = "k", fovea.dims = ["batch", "windows", "keys"]},
                   %v: tensor<?x?x?x4xf32> {fovea.name = "v", fovea.dims = ["batch", "windows", "keys"]},
                   %length0: tensor<1xi64> {fovea.name = "length0"})
    -> (tensor<?x?x?x4xf32> {fovea.name = "output", fovea.dims = ["batch", "windows", "queries"]})
    attributes {fovea.entry} {
  %c0 = arith.constant 0 : index
  %batch = tensor.dim %q, %c0 : tensor<?x?x?x4xf32>
  %c1 = arith.constant 1 : index
  %windows = tensor.dim %q, %c1 : tensor<?x?x?x4xf32>
  %c2 = arith.constant 2 : index
  %queries = tensor.dim %q, %c2 : tensor<?x?x?x4xf32>
  %c3 = arith.constant 2 : index
  %keys = tensor.dim %k, %c3 : tensor<?x?x?x4xf32>
  %e4 = tensor.empty(%batch, %windows, %queries, %keys) : tensor<?x?x?x?xf32>
  %c5 = arith.constant 0.00000000e+00 : f32
  %f6 = linalg.fill ins(%c5 : f32) outs(%e4 : tensor<?x?x?x?xf32>) -> tensor<?x?x?x?xf32>
  %product7 = linalg.contract indexing_maps = [affine_map<(b, c, i, j, d) -> (b, c, i, d)>, affine_map<(b, c, i, j, d) -> (b, c, j, d)>, affine_map<(b, c, i, j, d) -> (b, c, i, j)>]
      ins(%q, %k : tensor<?x?x?x4xf32>, tensor<?x?x?x4xf32>) outs(%f6 : tensor<?x?x?x?xf32>) -> tensor<?x?x?x?xf32>
  %e8 = tensor.empty(%batch, %windows, %queries) : tensor<?x?x?xf32>
  %c9 = arith.constant 0xFF800000 : f32
  %f10 = linalg.fill ins(%c9 : f32) outs(%e8 : tensor<?x?x?xf32>) -> tensor<?x?x?xf32>
  %t14 = linalg.generic {indexing_maps = [affine_map<(b, c, i, j) -> (b, c, i, j)>, affine_map<(b, c, i, j) -> (b, c, i)>], iterator_types = ["parallel", "parallel", "parallel", "reduction"]}
      ins(%product7 : tensor<?x?x?x?xf32>) outs(%f10 : tensor<?x?x?xf32>) {
  ^bb0(%in11: f32, %acc12: f32):
    %v13 = arith.maxnumf %acc12, %in11 : f32
    linalg.yield %v13 : f32
  } -> tensor<?x?x?xf32>
  %e15 = tensor.empty(%batch, %windows, %keys, %queries) : tensor<?x?x?x?xf32>
  %t37 = linalg.generic {indexing_maps = [affine_map<(b, c, j, i) -> (b, c, i, j)>, affine_map<(b, c, j, i) -> (b, c, i)>, affine_map<(b, c, j, i) -> (0)>, affine_map<(b, c, j, i) -> (b, c, j, i)>], iterator_types = ["parallel", "parallel", "parallel", "parallel"]}
      ins(%product7, %t14, %length0 : tensor<?x?x?x?xf32>, tensor<?x?x?xf32>, tensor<1xi64>) outs(%e15 : tensor<?x?x?x?xf32>) {
  ^bb0(%in16: f32, %in17: f32, %in18: i64, %acc19: f32):
    %v20 = arith.subf %in16, %in17 : f32
    %v21 = math.exp %v20 : f32
    %at22 = linalg.index 2 : index
    %v23 = arith.index_cast %at22 : index to i64
    %v24 = arith.cmpi slt, %v23, %in18 : i64
    %at25 = linalg.index 2 : index
    %c26 = arith.constant 2 : index
    %v27 = arith.cmpi slt, %at25, %c26 : index
    %at28 = linalg.index 3 : index
    %c29 = arith.constant 2 : index
    %v30 = arith.cmpi slt, %at28, %c29 : index
    %v31 = arith.ori %v27, %v30 : i1
    %c32 = arith.constant true
    %v33 = arith.xori %v31, %c32 : i1
    %v34 = arith.andi %v24, %v33 : i1
    %v35 = arith.uitofp %v34 : i1 to f32
    %v36 = arith.mulf %v21, %v35 : f32
    linalg.yield %v36 : f32
  } -> tensor<?x?x?x?xf32>
  %e38 = tensor.empty(%batch, %windows, %queries) : tensor<?x?x?xf32>
  %c39 = arith.constant 0.00000000e+00 : f32
  %f40 = linalg.fill ins(%c39 : f32) outs(%e38 : tensor<?x?x?xf32>) -> tensor<?x?x?xf32>
  %r41 = linalg.reduce { arith.addf } ins(%t37 : tensor<?x?x?x?xf32>) outs(%f40 : tensor<?x?x?xf32>) dimensions = [2]
  %e42 = tensor.empty(%batch, %windows, %queries, %keys) : tensor<?x?x?x?xf32>
  %t66 = linalg.generic {indexing_maps = [affine_map<(b, c, i, j) -> (b, c, i, j)>, affine_map<(b, c, i, j) -> (b, c, i)>, affine_map<(b, c, i, j) -> (0)>, affine_map<(b, c, i, j) -> (b, c, i)>, affine_map<(b, c, i, j) -> (b, c, i, j)>], iterator_types = ["parallel", "parallel", "parallel", "parallel"]}
      ins(%product7, %t14, %length0, %r41 : tensor<?x?x?x?xf32>, tensor<?x?x?xf32>, tensor<1xi64>, tensor<?x?x?xf32>) outs(%e42 : tensor<?x?x?x?xf32>) {
  ^bb0(%in43: f32, %in44: f32, %in45: i64, %in46: f32, %acc47: f32):
    %v48 = arith.subf %in43, %in44 : f32
    %v49 = math.exp %v48 : f32
    %at50 = linalg.index 3 : index
    %v51 = arith.index_cast %at50 : index to i64
    %v52 = arith.cmpi slt, %v51, %in45 : i64
    %at53 = linalg.index 3 : index
    %c54 = arith.constant 2 : index
    %v55 = arith.cmpi slt, %at53, %c54 : index
    %at56 = linalg.index 2 : index
    %c57 = arith.constant 2 : index
    %v58 = arith.cmpi slt, %at56, %c57 : index
    %v59 = arith.ori %v55, %v58 : i1
    %c60 = arith.constant true
    %v61 = arith.xori %v59, %c60 : i1
    %v62 = arith.andi %v52, %v61 : i1
    %v63 = arith.uitofp %v62 : i1 to f32
    %v64 = arith.mulf %v49, %v63 : f32
    %v65 = arith.divf %v64, %in46 : f32
    linalg.yield %v65 : f32
  } -> tensor<?x?x?x?xf32>
  %e67 = tensor.empty(%batch, %windows, %queries) : tensor<?x?x?x4xf32>
  %c68 = arith.constant 0.00000000e+00 : f32
  %f69 = linalg.fill ins(%c68 : f32) outs(%e67 : tensor<?x?x?x4xf32>) -> tensor<?x?x?x4xf32>
  %product70 = linalg.contract indexing_maps = [affine_map<(b, c, i, e, j) -> (b, c, i, j)>, affine_map<(b, c, i, e, j) -> (b, c, j, e)>, affine_map<(b, c, i, e, j) -> (b, c, i, e)>]
      ins(%t66, %v : tensor<?x?x?x?xf32>, tensor<?x?x?x4xf32>) outs(%f69 : tensor<?x?x?x4xf32>) -> tensor<?x?x?x4xf32>
  return %product70 : tensor<?x?x?x4xf32>
}
