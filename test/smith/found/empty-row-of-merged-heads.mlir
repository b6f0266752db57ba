// RUN: fovea-smith %s

// Merged heads are split, and the values that an empty row is compared with were not: such a row got zero.
//
// choices: batch=2 heads=2 group=4 grouping=3 depth=4 batch-size=1 queries=9 keys=7 rule2=14 mask0=7 apply=1 mask-form=3 guard=1 style=2 spelling=552534149
// fused: 1
// masks: window
// size: batch 1 2
// size: keys 7 13
// size: queries 9 14
// size: windows 2 6
// input: q normal 1
// input: k normal 1
// input: v normal 1
// input: t20 normal 1

func.func @forward(%q: tensor<?x?x8x?x4xf32> {fovea.name = "q", fovea.dims = ["batch", "windows", "queries"]},
                   %k: tensor<?x?x2x?x4xf32> {fovea.name = "k", fovea.dims = ["batch", "windows", "keys"]},
                   %v: tensor<?x?x2x?x4xf32> {fovea.name = "v", fovea.dims = ["batch", "windows", "keys"]},
                   %t20: tensor<8x?xf32> {fovea.name = "t20", fovea.dims = ["queries"]})
    -> (tensor<?x?x8x?x4xf32> {fovea.name = "output", fovea.dims = ["batch", "windows", "queries"]})
    attributes {fovea.entry} {
  %c0 = arith.constant 0 : index
  %batch = tensor.dim %q, %c0 : tensor<?x?x8x?x4xf32>
  %c1 = arith.constant 1 : index
  %windows = tensor.dim %q, %c1 : tensor<?x?x8x?x4xf32>
  %c2 = arith.constant 3 : index
  %queries = tensor.dim %q, %c2 : tensor<?x?x8x?x4xf32>
  %c3 = arith.constant 3 : index
  %keys = tensor.dim %k, %c3 : tensor<?x?x2x?x4xf32>
  %e4 = tensor.empty(%batch, %windows, %keys) : tensor<?x?x4x2x?x4xf32>
  %t7 = linalg.generic {indexing_maps = [affine_map<(b, c, g, k, j, d) -> (b, c, k, j, d)>, affine_map<(b, c, g, k, j, d) -> (b, c, g, k, j, d)>], iterator_types = ["parallel", "parallel", "parallel", "parallel", "parallel", "parallel"]}
      ins(%k : tensor<?x?x2x?x4xf32>) outs(%e4 : tensor<?x?x4x2x?x4xf32>) {
  ^bb0(%in5: f32, %acc6: f32):
    linalg.yield %in5 : f32
  } -> tensor<?x?x4x2x?x4xf32>
  %flat8 = tensor.collapse_shape %t7 [[0], [1], [2, 3], [4], [5]] : tensor<?x?x4x2x?x4xf32> into tensor<?x?x8x?x4xf32>
  %e9 = tensor.empty(%batch, %windows, %keys) : tensor<?x?x4x2x?x4xf32>
  %t12 = linalg.generic {indexing_maps = [affine_map<(b, c, g, k, j, e) -> (b, c, k, j, e)>, affine_map<(b, c, g, k, j, e) -> (b, c, g, k, j, e)>], iterator_types = ["parallel", "parallel", "parallel", "parallel", "parallel", "parallel"]}
      ins(%v : tensor<?x?x2x?x4xf32>) outs(%e9 : tensor<?x?x4x2x?x4xf32>) {
  ^bb0(%in10: f32, %acc11: f32):
    linalg.yield %in10 : f32
  } -> tensor<?x?x4x2x?x4xf32>
  %flat13 = tensor.collapse_shape %t12 [[0], [1], [2, 3], [4], [5]] : tensor<?x?x4x2x?x4xf32> into tensor<?x?x8x?x4xf32>
  %e14 = tensor.empty(%batch, %windows, %queries, %keys) : tensor<?x?x8x?x?xf32>
  %c15 = arith.constant 0.00000000e+00 : f32
  %f16 = linalg.fill ins(%c15 : f32) outs(%e14 : tensor<?x?x8x?x?xf32>) -> tensor<?x?x8x?x?xf32>
  %product17 = linalg.contract indexing_maps = [affine_map<(b, c, A, i, j, d) -> (b, c, A, i, d)>, affine_map<(b, c, A, i, j, d) -> (b, c, A, j, d)>, affine_map<(b, c, A, i, j, d) -> (b, c, A, i, j)>]
      ins(%q, %flat8 : tensor<?x?x8x?x4xf32>, tensor<?x?x8x?x4xf32>) outs(%f16 : tensor<?x?x8x?x?xf32>) -> tensor<?x?x8x?x?xf32>
  %e18 = tensor.empty(%keys) : tensor<?xi32>
  %t22 = linalg.generic {indexing_maps = [affine_map<(j) -> (j)>], iterator_types = ["parallel"]}
      outs(%e18 : tensor<?xi32>) {
  ^bb0(%acc19: i32):
    %at20 = linalg.index 0 : index
    %v21 = arith.index_cast %at20 : index to i32
    linalg.yield %v21 : i32
  } -> tensor<?xi32>
  %e23 = tensor.empty(%queries) : tensor<?xi32>
  %t27 = linalg.generic {indexing_maps = [affine_map<(i) -> (i)>], iterator_types = ["parallel"]}
      outs(%e23 : tensor<?xi32>) {
  ^bb0(%acc24: i32):
    %at25 = linalg.index 0 : index
    %v26 = arith.index_cast %at25 : index to i32
    linalg.yield %v26 : i32
  } -> tensor<?xi32>
  %e28 = tensor.empty(%queries, %keys) : tensor<?x?xi64>
  %t34 = linalg.generic {indexing_maps = [affine_map<(j, i) -> (j)>, affine_map<(j, i) -> (i)>, affine_map<(j, i) -> (i, j)>], iterator_types = ["parallel", "parallel"]}
      ins(%t22, %t27 : tensor<?xi32>, tensor<?xi32>) outs(%e28 : tensor<?x?xi64>) {
  ^bb0(%in29: i32, %in30: i32, %acc31: i64):
    %v32 = arith.cmpi slt, %in29, %in30 : i32
    %v33 = arith.extui %v32 : i1 to i64
    linalg.yield %v33 : i64
  } -> tensor<?x?xi64>
  %e35 = tensor.empty(%queries, %keys) : tensor<?x?xi1>
  %t40 = linalg.generic {indexing_maps = [affine_map<(i, j) -> (i, j)>, affine_map<(i, j) -> (i, j)>], iterator_types = ["parallel", "parallel"]}
      ins(%t34 : tensor<?x?xi64>) outs(%e35 : tensor<?x?xi1>) {
  ^bb0(%in36: i64, %acc37: i1):
    %c38 = arith.constant 0 : i64
    %v39 = arith.cmpi ne, %in36, %c38 : i64
    linalg.yield %v39 : i1
  } -> tensor<?x?xi1>
  %e41 = tensor.empty(%batch, %windows, %queries, %keys) : tensor<?x?x?x?x8xf32>
  %t46 = linalg.generic {indexing_maps = [affine_map<(b, c, i, j, A) -> (A, i)>, affine_map<(b, c, i, j, A) -> (b, c, A, i, j)>, affine_map<(b, c, i, j, A) -> (b, c, i, j, A)>], iterator_types = ["parallel", "parallel", "parallel", "parallel", "parallel"]}
      ins(%t20, %product17 : tensor<8x?xf32>, tensor<?x?x8x?x?xf32>) outs(%e41 : tensor<?x?x?x?x8xf32>) {
  ^bb0(%in42: f32, %in43: f32, %acc44: f32):
    %v45 = arith.subf %in42, %in43 : f32
    linalg.yield %v45 : f32
  } -> tensor<?x?x?x?x8xf32>
  %e47 = tensor.empty(%queries, %keys) : tensor<?x?xi64>
  %t53 = linalg.generic {indexing_maps = [affine_map<(i, j) -> (i, j)>], iterator_types = ["parallel", "parallel"]}
      outs(%e47 : tensor<?x?xi64>) {
  ^bb0(%acc48: i64):
    %at49 = linalg.index 0 : index
    %at50 = linalg.index 1 : index
    %v51 = arith.subi %at49, %at50 : index
    %v52 = arith.index_cast %v51 : index to i64
    linalg.yield %v52 : i64
  } -> tensor<?x?xi64>
  %e54 = tensor.empty(%queries, %keys) : tensor<?x?xf32>
  %t58 = linalg.generic {indexing_maps = [affine_map<(i, j) -> (i, j)>, affine_map<(i, j) -> (i, j)>], iterator_types = ["parallel", "parallel"]}
      ins(%t53 : tensor<?x?xi64>) outs(%e54 : tensor<?x?xf32>) {
  ^bb0(%in55: i64, %acc56: f32):
    %v57 = arith.sitofp %in55 : i64 to f32
    linalg.yield %v57 : f32
  } -> tensor<?x?xf32>
  %e59 = tensor.empty(%queries, %keys) : tensor<?x?xf32>
  %t64 = linalg.generic {indexing_maps = [affine_map<(i, j) -> (i, j)>, affine_map<(i, j) -> (i, j)>], iterator_types = ["parallel", "parallel"]}
      ins(%t58 : tensor<?x?xf32>) outs(%e59 : tensor<?x?xf32>) {
  ^bb0(%in60: f32, %acc61: f32):
    %c62 = arith.constant 3.12500000e-02 : f32
    %v63 = arith.mulf %in60, %c62 : f32
    linalg.yield %v63 : f32
  } -> tensor<?x?xf32>
  %e65 = tensor.empty(%queries, %keys) : tensor<?x?xf32>
  %t69 = linalg.generic {indexing_maps = [affine_map<(i, j) -> (i, j)>, affine_map<(i, j) -> (i, j)>], iterator_types = ["parallel", "parallel"]}
      ins(%t64 : tensor<?x?xf32>) outs(%e65 : tensor<?x?xf32>) {
  ^bb0(%in66: f32, %acc67: f32):
    %v68 = math.tanh %in66 : f32
    linalg.yield %v68 : f32
  } -> tensor<?x?xf32>
  %e70 = tensor.empty(%batch, %windows, %queries, %keys) : tensor<?x?x?x?x8xf32>
  %t75 = linalg.generic {indexing_maps = [affine_map<(b, c, i, j, A) -> (b, c, i, j, A)>, affine_map<(b, c, i, j, A) -> (i, j)>, affine_map<(b, c, i, j, A) -> (b, c, i, j, A)>], iterator_types = ["parallel", "parallel", "parallel", "parallel", "parallel"]}
      ins(%t46, %t69 : tensor<?x?x?x?x8xf32>, tensor<?x?xf32>) outs(%e70 : tensor<?x?x?x?x8xf32>) {
  ^bb0(%in71: f32, %in72: f32, %acc73: f32):
    %v74 = arith.minimumf %in71, %in72 : f32
    linalg.yield %v74 : f32
  } -> tensor<?x?x?x?x8xf32>
  %e76 = tensor.empty(%batch, %windows, %queries, %keys) : tensor<?x?x?x?x8xf32>
  %t81 = linalg.generic {indexing_maps = [affine_map<(b, c, i, j, A) -> (b, c, A, i, j)>, affine_map<(b, c, i, j, A) -> (b, c, i, j, A)>], iterator_types = ["parallel", "parallel", "parallel", "parallel", "parallel"]}
      ins(%product17 : tensor<?x?x8x?x?xf32>) outs(%e76 : tensor<?x?x?x?x8xf32>) {
  ^bb0(%in77: f32, %acc78: f32):
    %c79 = arith.constant 5.00000000e-01 : f32
    %v80 = arith.mulf %in77, %c79 : f32
    linalg.yield %v80 : f32
  } -> tensor<?x?x?x?x8xf32>
  %e82 = tensor.empty(%batch, %windows, %queries, %keys) : tensor<?x?x?x?x8xf32>
  %t87 = linalg.generic {indexing_maps = [affine_map<(b, c, i, j, A) -> (b, c, i, j, A)>, affine_map<(b, c, i, j, A) -> (b, c, i, j, A)>, affine_map<(b, c, i, j, A) -> (b, c, i, j, A)>], iterator_types = ["parallel", "parallel", "parallel", "parallel", "parallel"]}
      ins(%t75, %t81 : tensor<?x?x?x?x8xf32>, tensor<?x?x?x?x8xf32>) outs(%e82 : tensor<?x?x?x?x8xf32>) {
  ^bb0(%in83: f32, %in84: f32, %acc85: f32):
    %v86 = arith.addf %in83, %in84 : f32
    linalg.yield %v86 : f32
  } -> tensor<?x?x?x?x8xf32>
  %e88 = tensor.empty(%batch, %windows, %queries, %keys) : tensor<?x?x8x?x?xf32>
  %t94 = linalg.generic {indexing_maps = [affine_map<(b, c, A, i, j) -> (i, j)>, affine_map<(b, c, A, i, j) -> (b, c, i, j, A)>, affine_map<(b, c, A, i, j) -> (b, c, A, i, j)>], iterator_types = ["parallel", "parallel", "parallel", "parallel", "parallel"]}
      ins(%t40, %t87 : tensor<?x?xi1>, tensor<?x?x?x?x8xf32>) outs(%e88 : tensor<?x?x8x?x?xf32>) {
  ^bb0(%in89: i1, %in90: f32, %acc91: f32):
    %c92 = arith.constant -1.00000000e+09 : f32
    %v93 = arith.select %in89, %in90, %c92 : f32
    linalg.yield %v93 : f32
  } -> tensor<?x?x8x?x?xf32>
  %e95 = tensor.empty(%batch, %windows, %queries, %keys) : tensor<?x?x8x?x?xf32>
  %p96 = linalg.softmax dimension(4) ins(%t94 : tensor<?x?x8x?x?xf32>) outs(%e95 : tensor<?x?x8x?x?xf32>) -> tensor<?x?x8x?x?xf32>
  %e97 = tensor.empty(%batch, %windows, %queries, %keys) : tensor<?x?x?x?x8xi1>
  %t101 = linalg.generic {indexing_maps = [affine_map<(b, c, i, j, A) -> (b, c, A, i, j)>, affine_map<(b, c, i, j, A) -> (b, c, i, j, A)>], iterator_types = ["parallel", "parallel", "parallel", "parallel", "parallel"]}
      ins(%p96 : tensor<?x?x8x?x?xf32>) outs(%e97 : tensor<?x?x?x?x8xi1>) {
  ^bb0(%in98: f32, %acc99: i1):
    %v100 = arith.cmpf uno, %in98, %in98 : f32
    linalg.yield %v100 : i1
  } -> tensor<?x?x?x?x8xi1>
  %e102 = tensor.empty(%batch, %windows, %queries, %keys) : tensor<?x?x?x?x8xf32>
  %t108 = linalg.generic {indexing_maps = [affine_map<(i, b, j, c, A) -> (b, c, i, j, A)>, affine_map<(i, b, j, c, A) -> (b, c, A, i, j)>, affine_map<(i, b, j, c, A) -> (b, c, i, j, A)>], iterator_types = ["parallel", "parallel", "parallel", "parallel", "parallel"]}
      ins(%t101, %p96 : tensor<?x?x?x?x8xi1>, tensor<?x?x8x?x?xf32>) outs(%e102 : tensor<?x?x?x?x8xf32>) {
  ^bb0(%in103: i1, %in104: f32, %acc105: f32):
    %c106 = arith.constant 0.00000000e+00 : f32
    %v107 = arith.select %in103, %c106, %in104 : f32
    linalg.yield %v107 : f32
  } -> tensor<?x?x?x?x8xf32>
  %e109 = tensor.empty(%batch, %windows, %queries) : tensor<?x?x8x?x4xf32>
  %c110 = arith.constant 0.00000000e+00 : f32
  %f111 = linalg.fill ins(%c110 : f32) outs(%e109 : tensor<?x?x8x?x4xf32>) -> tensor<?x?x8x?x4xf32>
  %product112 = linalg.contract indexing_maps = [affine_map<(b, c, A, i, e, j) -> (b, c, i, j, A)>, affine_map<(b, c, A, i, e, j) -> (b, c, A, j, e)>, affine_map<(b, c, A, i, e, j) -> (b, c, A, i, e)>]
      ins(%t108, %flat13 : tensor<?x?x?x?x8xf32>, tensor<?x?x8x?x4xf32>) outs(%f111 : tensor<?x?x8x?x4xf32>) -> tensor<?x?x8x?x4xf32>
  return %product112 : tensor<?x?x8x?x4xf32>
}
