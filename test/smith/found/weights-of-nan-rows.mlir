// RUN: fovea-smith %s

// Probabilities of a row without keys are NaN, and a comparison made a weight of these that is near to the mean's.
//
// choices: depth=1 static=5 batch-size=1 queries=1 keys=4 mask0=2
// near-miss: probability select value 0.999
// fused: -1
// masks:
// size: queries 1 6
// input: q normal 3.74166
// input: k normal 3.74166
// input: v normal 1

func.func @forward(%q: tensor<?x1xf32> {fovea.name = "q", fovea.dims = ["queries"]},
                   %k: tensor<4x1xf32> {fovea.name = "k"},
                   %v: tensor<4x1xf32> {fovea.name = "v"})
    -> (tensor<?x1xf32> {fovea.name = "output", fovea.dims = ["queries"]})
    attributes {fovea.entry} {
  %c0 = arith.constant 0 : index
  %queries = tensor.dim %q, %c0 : tensor<?x1xf32>
  %e1 = tensor.empty(%queries) : tensor<?x4xf32>
  %c2 = arith.constant 0.00000000e+00 : f32
  %f3 = linalg.fill ins(%c2 : f32) outs(%e1 : tensor<?x4xf32>) -> tensor<?x4xf32>
  %product4 = linalg.contract indexing_maps = [affine_map<(i, j, d) -> (i, d)>, affine_map<(i, j, d) -> (j, d)>, affine_map<(i, j, d) -> (i, j)>]
      ins(%q, %k : tensor<?x1xf32>, tensor<4x1xf32>) outs(%f3 : tensor<?x4xf32>) -> tensor<?x4xf32>
  %e5 = tensor.empty(%queries) : tensor<?x4xf32>
  %t20 = linalg.generic {indexing_maps = [affine_map<(i, j) -> (i, j)>, affine_map<(i, j) -> (i, j)>], iterator_types = ["parallel", "parallel"]}
      ins(%product4 : tensor<?x4xf32>) outs(%e5 : tensor<?x4xf32>) {
  ^bb0(%in6: f32, %acc7: f32):
    %at8 = linalg.index 1 : index
    %at9 = linalg.index 0 : index
    %c10 = arith.constant 4 : index
    %v11 = arith.subi %c10, %queries : index
    %v12 = arith.addi %at9, %v11 : index
    %c13 = arith.constant 1 : index
    %v14 = arith.addi %v12, %c13 : index
    %v15 = arith.cmpi slt, %at8, %v14 : index
    %c16 = arith.constant true
    %v17 = arith.xori %v15, %c16 : i1
    %c18 = arith.constant 0xFF800000 : f32
    %v19 = arith.select %v17, %c18, %in6 : f32
    linalg.yield %v19 : f32
  } -> tensor<?x4xf32>
  %e21 = tensor.empty(%queries) : tensor<?x4xf32>
  %p22 = linalg.softmax dimension(1) ins(%t20 : tensor<?x4xf32>) outs(%e21 : tensor<?x4xf32>) -> tensor<?x4xf32>
  %e23 = tensor.empty(%queries) : tensor<?x4xf32>
  %t32 = linalg.generic {indexing_maps = [affine_map<(i, j) -> (i, j)>, affine_map<(i, j) -> (i, j)>], iterator_types = ["parallel", "parallel"]}
      ins(%p22 : tensor<?x4xf32>) outs(%e23 : tensor<?x4xf32>) {
  ^bb0(%in24: f32, %acc25: f32):
    %c26 = arith.constant 9.99000000e-01 : f32
    %v27 = arith.cmpf ole, %in24, %c26 : f32
    %c28 = arith.constant true
    %v29 = arith.xori %v27, %c28 : i1
    %c30 = arith.constant 2.49750000e-01 : f32
    %v31 = arith.select %v29, %c30, %in24 : f32
    linalg.yield %v31 : f32
  } -> tensor<?x4xf32>
  %e33 = tensor.empty(%queries) : tensor<?x1xf32>
  %c34 = arith.constant 0.00000000e+00 : f32
  %f35 = linalg.fill ins(%c34 : f32) outs(%e33 : tensor<?x1xf32>) -> tensor<?x1xf32>
  %product36 = linalg.contract indexing_maps = [affine_map<(i, e, j) -> (i, j)>, affine_map<(i, e, j) -> (j, e)>, affine_map<(i, e, j) -> (i, e)>]
      ins(%t32, %v : tensor<?x4xf32>, tensor<4x1xf32>) outs(%f35 : tensor<?x1xf32>) -> tensor<?x1xf32>
  return %product36 : tensor<?x1xf32>
}
