// RUN: fovea-smith %s

// A formula that is compared as a number keeps its form.
//
// choices: depth=4 static=1 batch-size=1 queries=5 keys=6 mask0=13 mask1=7 mask-form=2
// fused: 1
// masks: global window
// size: keys 6 10
// size: queries 5 10
// input: q normal 1
// input: k normal 1
// input: v normal 1

func.func @forward(%q: tensor<?x4xf32> {fovea.name = "q", fovea.dims = ["queries"]},
                   %k: tensor<?x4xf32> {fovea.name = "k", fovea.dims = ["keys"]},
                   %v: tensor<?x4xf32> {fovea.name = "v", fovea.dims = ["keys"]})
    -> (tensor<?x4xf32> {fovea.name = "output", fovea.dims = ["queries"]})
    attributes {fovea.entry} {
  %c0 = arith.constant 0 : index
  %queries = tensor.dim %q, %c0 : tensor<?x4xf32>
  %c1 = arith.constant 0 : index
  %keys = tensor.dim %k, %c1 : tensor<?x4xf32>
  %e2 = tensor.empty(%queries, %keys) : tensor<?x?xf32>
  %c3 = arith.constant 0.00000000e+00 : f32
  %f4 = linalg.fill ins(%c3 : f32) outs(%e2 : tensor<?x?xf32>) -> tensor<?x?xf32>
  %product5 = linalg.contract indexing_maps = [affine_map<(i, j, d) -> (i, d)>, affine_map<(i, j, d) -> (j, d)>, affine_map<(i, j, d) -> (i, j)>]
      ins(%q, %k : tensor<?x4xf32>, tensor<?x4xf32>) outs(%f4 : tensor<?x?xf32>) -> tensor<?x?xf32>
  %e6 = tensor.empty(%queries, %keys) : tensor<?x?xf32>
  %t24 = linalg.generic {indexing_maps = [affine_map<(i, j) -> (i, j)>], iterator_types = ["parallel", "parallel"]}
      outs(%e6 : tensor<?x?xf32>) {
  ^bb0(%acc7: f32):
    %at8 = linalg.index 1 : index
    %v9 = arith.index_cast %at8 : index to i64
    %c10 = arith.constant 3 : i64
    %v11 = arith.cmpi slt, %v9, %c10 : i64
    %at12 = linalg.index 0 : index
    %v13 = arith.index_cast %at12 : index to i64
    %c14 = arith.constant 3 : i64
    %v15 = arith.cmpi slt, %v13, %c14 : i64
    %v16 = arith.ori %v11, %v15 : i1
    %at17 = linalg.index 1 : index
    %v18 = arith.index_cast %at17 : index to i64
    %at19 = linalg.index 0 : index
    %v20 = arith.index_cast %at19 : index to i64
    %v21 = arith.cmpi slt, %v18, %v20 : i64
    %v22 = arith.andi %v16, %v21 : i1
    %v23 = arith.uitofp %v22 : i1 to f32
    linalg.yield %v23 : f32
  } -> tensor<?x?xf32>
  %e25 = tensor.empty(%queries, %keys) : tensor<?x?xf32>
  %t35 = linalg.generic {indexing_maps = [affine_map<(i, j) -> (i, j)>, affine_map<(i, j) -> (i, j)>, affine_map<(i, j) -> (i, j)>], iterator_types = ["parallel", "parallel"]}
      ins(%t24, %product5 : tensor<?x?xf32>, tensor<?x?xf32>) outs(%e25 : tensor<?x?xf32>) {
  ^bb0(%in26: f32, %in27: f32, %acc28: f32):
    %c29 = arith.constant 5.00000000e-01 : f32
    %v30 = arith.cmpf ogt, %in26, %c29 : f32
    %c31 = arith.constant true
    %v32 = arith.xori %v30, %c31 : i1
    %c33 = arith.constant 0xFF800000 : f32
    %v34 = arith.select %v32, %c33, %in27 : f32
    linalg.yield %v34 : f32
  } -> tensor<?x?xf32>
  %e36 = tensor.empty(%queries, %keys) : tensor<?x?xf32>
  %p37 = linalg.softmax dimension(1) ins(%t35 : tensor<?x?xf32>) outs(%e36 : tensor<?x?xf32>) -> tensor<?x?xf32>
  %e38 = tensor.empty(%queries) : tensor<?x4xf32>
  %c39 = arith.constant 0.00000000e+00 : f32
  %f40 = linalg.fill ins(%c39 : f32) outs(%e38 : tensor<?x4xf32>) -> tensor<?x4xf32>
  %product41 = linalg.contract indexing_maps = [affine_map<(i, e, j) -> (i, j)>, affine_map<(i, e, j) -> (j, e)>, affine_map<(i, e, j) -> (i, e)>]
      ins(%p37, %v : tensor<?x?xf32>, tensor<?x4xf32>) outs(%f40 : tensor<?x4xf32>) -> tensor<?x4xf32>
  return %product41 : tensor<?x4xf32>
}
