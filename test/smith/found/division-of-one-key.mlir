// RUN: fovea-smith %s

// One query sees one key, so the product before its division by one was taken for the attention.
//
// choices: depth=2 static=3 batch-size=1 queries=1 keys=1 scale=1 mask0=1 softmax=1 norm=2 guard=2 style=2
// fused: 1
// masks: *
// size: keys 1 6
// input: q normal 1
// input: k normal 1
// input: v normal 1

func.func @forward(%q: tensor<1x2xf32> {fovea.name = "q"},
                   %k: tensor<?x2xf32> {fovea.name = "k", fovea.dims = ["keys"]},
                   %v: tensor<?x2xf32> {fovea.name = "v", fovea.dims = ["keys"]})
    -> (tensor<1x2xf32> {fovea.name = "output"})
    attributes {fovea.entry} {
  %c0 = arith.constant 0 : index
  %keys = tensor.dim %k, %c0 : tensor<?x2xf32>
  %e1 = tensor.empty(%keys) : tensor<1x?xf32>
  %c2 = arith.constant 0.00000000e+00 : f32
  %f3 = linalg.fill ins(%c2 : f32) outs(%e1 : tensor<1x?xf32>) -> tensor<1x?xf32>
  %product4 = linalg.contract indexing_maps = [affine_map<(i, j, d) -> (i, d)>, affine_map<(i, j, d) -> (j, d)>, affine_map<(i, j, d) -> (i, j)>]
      ins(%q, %k : tensor<1x2xf32>, tensor<?x2xf32>) outs(%f3 : tensor<1x?xf32>) -> tensor<1x?xf32>
  %e5 = tensor.empty(%keys) : tensor<?xi64>
  %t9 = linalg.generic {indexing_maps = [affine_map<(j) -> (j)>], iterator_types = ["parallel"]}
      outs(%e5 : tensor<?xi64>) {
  ^bb0(%acc6: i64):
    %at7 = linalg.index 0 : index
    %v8 = arith.index_cast %at7 : index to i64
    linalg.yield %v8 : i64
  } -> tensor<?xi64>
  %e10 = tensor.empty() : tensor<1xi64>
  %t14 = linalg.generic {indexing_maps = [affine_map<(i) -> (i)>], iterator_types = ["parallel"]}
      outs(%e10 : tensor<1xi64>) {
  ^bb0(%acc11: i64):
    %at12 = linalg.index 0 : index
    %v13 = arith.index_cast %at12 : index to i64
    linalg.yield %v13 : i64
  } -> tensor<1xi64>
  %e15 = tensor.empty() : tensor<1xi64>
  %t20 = linalg.generic {indexing_maps = [affine_map<(i) -> (i)>, affine_map<(i) -> (i)>], iterator_types = ["parallel"]}
      ins(%t14 : tensor<1xi64>) outs(%e15 : tensor<1xi64>) {
  ^bb0(%in16: i64, %acc17: i64):
    %c18 = arith.constant 1 : i64
    %v19 = arith.addi %in16, %c18 : i64
    linalg.yield %v19 : i64
  } -> tensor<1xi64>
  %e21 = tensor.empty(%keys) : tensor<1x?xi1>
  %t26 = linalg.generic {indexing_maps = [affine_map<(i, j) -> (j)>, affine_map<(i, j) -> (i)>, affine_map<(i, j) -> (i, j)>], iterator_types = ["parallel", "parallel"]}
      ins(%t9, %t20 : tensor<?xi64>, tensor<1xi64>) outs(%e21 : tensor<1x?xi1>) {
  ^bb0(%in22: i64, %in23: i64, %acc24: i1):
    %v25 = arith.cmpi slt, %in22, %in23 : i64
    linalg.yield %v25 : i1
  } -> tensor<1x?xi1>
  %e27 = tensor.empty(%keys) : tensor<1x?xf32>
  %t37 = linalg.generic {indexing_maps = [affine_map<(i, j) -> (i, j)>, affine_map<(i, j) -> (i, j)>, affine_map<(i, j) -> (i, j)>], iterator_types = ["parallel", "parallel"]}
      ins(%t26, %product4 : tensor<1x?xi1>, tensor<1x?xf32>) outs(%e27 : tensor<1x?xf32>) {
  ^bb0(%in28: i1, %in29: f32, %acc30: f32):
    %c31 = arith.constant true
    %v32 = arith.xori %in28, %c31 : i1
    %c33 = arith.constant 0xFF800000 : f32
    %c34 = arith.constant 7.07106781e-01 : f32
    %v35 = arith.mulf %in29, %c34 : f32
    %v36 = arith.select %v32, %c33, %v35 : f32
    linalg.yield %v36 : f32
  } -> tensor<1x?xf32>
  %e38 = tensor.empty() : tensor<1xf32>
  %c39 = arith.constant 0xFF800000 : f32
  %f40 = linalg.fill ins(%c39 : f32) outs(%e38 : tensor<1xf32>) -> tensor<1xf32>
  %t44 = linalg.generic {indexing_maps = [affine_map<(i, j) -> (i, j)>, affine_map<(i, j) -> (i)>], iterator_types = ["parallel", "reduction"]}
      ins(%t37 : tensor<1x?xf32>) outs(%f40 : tensor<1xf32>) {
  ^bb0(%in41: f32, %acc42: f32):
    %v43 = arith.maxnumf %in41, %acc42 : f32
    linalg.yield %v43 : f32
  } -> tensor<1xf32>
  %e45 = tensor.empty(%keys) : tensor<1x?xf32>
  %t50 = linalg.generic {indexing_maps = [affine_map<(i, j) -> (i, j)>, affine_map<(i, j) -> (i)>, affine_map<(i, j) -> (i, j)>], iterator_types = ["parallel", "parallel"]}
      ins(%t37, %t44 : tensor<1x?xf32>, tensor<1xf32>) outs(%e45 : tensor<1x?xf32>) {
  ^bb0(%in46: f32, %in47: f32, %acc48: f32):
    %v49 = arith.subf %in46, %in47 : f32
    linalg.yield %v49 : f32
  } -> tensor<1x?xf32>
  %e51 = tensor.empty(%keys) : tensor<?x1xf32>
  %t55 = linalg.generic {indexing_maps = [affine_map<(j, i) -> (i, j)>, affine_map<(j, i) -> (j, i)>], iterator_types = ["parallel", "parallel"]}
      ins(%t50 : tensor<1x?xf32>) outs(%e51 : tensor<?x1xf32>) {
  ^bb0(%in52: f32, %acc53: f32):
    %v54 = math.exp %in52 : f32
    linalg.yield %v54 : f32
  } -> tensor<?x1xf32>
  %e56 = tensor.empty() : tensor<1xf32>
  %c57 = arith.constant 0.00000000e+00 : f32
  %f58 = linalg.fill ins(%c57 : f32) outs(%e56 : tensor<1xf32>) -> tensor<1xf32>
  %r59 = linalg.reduce { arith.addf } ins(%t55 : tensor<?x1xf32>) outs(%f58 : tensor<1xf32>) dimensions = [0]
  %e60 = tensor.empty(%keys) : tensor<1x?xf32>
  %t64 = linalg.generic {indexing_maps = [affine_map<(i, j) -> (i, j)>, affine_map<(i, j) -> (i, j)>], iterator_types = ["parallel", "parallel"]}
      ins(%t50 : tensor<1x?xf32>) outs(%e60 : tensor<1x?xf32>) {
  ^bb0(%in61: f32, %acc62: f32):
    %v63 = math.exp %in61 : f32
    linalg.yield %v63 : f32
  } -> tensor<1x?xf32>
  %e65 = tensor.empty() : tensor<1x2xf32>
  %c66 = arith.constant 0.00000000e+00 : f32
  %f67 = linalg.fill ins(%c66 : f32) outs(%e65 : tensor<1x2xf32>) -> tensor<1x2xf32>
  %product68 = linalg.contract indexing_maps = [affine_map<(i, e, j) -> (i, j)>, affine_map<(i, e, j) -> (j, e)>, affine_map<(i, e, j) -> (i, e)>]
      ins(%t64, %v : tensor<1x?xf32>, tensor<?x2xf32>) outs(%f67 : tensor<1x2xf32>) -> tensor<1x2xf32>
  %e69 = tensor.empty() : tensor<1xi1>
  %t74 = linalg.generic {indexing_maps = [affine_map<(i) -> (i)>, affine_map<(i) -> (i)>], iterator_types = ["parallel"]}
      ins(%r59 : tensor<1xf32>) outs(%e69 : tensor<1xi1>) {
  ^bb0(%in70: f32, %acc71: i1):
    %c72 = arith.constant 0.00000000e+00 : f32
    %v73 = arith.cmpf oeq, %in70, %c72 : f32
    linalg.yield %v73 : i1
  } -> tensor<1xi1>
  %e75 = tensor.empty() : tensor<1x2xf32>
  %t83 = linalg.generic {indexing_maps = [affine_map<(i, e) -> (i, e)>, affine_map<(i, e) -> (i)>, affine_map<(i, e) -> (i)>, affine_map<(i, e) -> (i, e)>], iterator_types = ["parallel", "parallel"]}
      ins(%product68, %t74, %r59 : tensor<1x2xf32>, tensor<1xi1>, tensor<1xf32>) outs(%e75 : tensor<1x2xf32>) {
  ^bb0(%in76: f32, %in77: i1, %in78: f32, %acc79: f32):
    %c80 = arith.constant 1.00000000e+00 : f32
    %v81 = arith.select %in77, %c80, %in78 : f32
    %v82 = arith.divf %in76, %v81 : f32
    linalg.yield %v82 : f32
  } -> tensor<1x2xf32>
  return %t83 : tensor<1x2xf32>
}
