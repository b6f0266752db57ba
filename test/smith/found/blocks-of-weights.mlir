// RUN: fovea-smith %s

// Probabilities times a mask of blocks, divided by their sum: a row whose keys are all in other blocks is 0/0, and was given the unmasked
// softmax, as the other rows see all keys.
//
// choices: depth=1 static=7 batch-size=1 queries=5 keys=2 mask0=18 apply=10
// fused: -1
// masks: *
// input: q normal 1
// input: k normal 1
// input: v normal 1

func.func @forward(%q: tensor<5x1xf32> {fovea.name = "q"},
                   %k: tensor<2x1xf32> {fovea.name = "k"},
                   %v: tensor<2x1xf32> {fovea.name = "v"})
    -> (tensor<5x1xf32> {fovea.name = "output"})
    attributes {fovea.entry} {
  %e0 = tensor.empty() : tensor<5x2xf32>
  %c1 = arith.constant 0.00000000e+00 : f32
  %f2 = linalg.fill ins(%c1 : f32) outs(%e0 : tensor<5x2xf32>) -> tensor<5x2xf32>
  %product3 = linalg.contract indexing_maps = [affine_map<(i, j, d) -> (i, d)>, affine_map<(i, j, d) -> (j, d)>, affine_map<(i, j, d) -> (i, j)>]
      ins(%q, %k : tensor<5x1xf32>, tensor<2x1xf32>) outs(%f2 : tensor<5x2xf32>) -> tensor<5x2xf32>
  %e4 = tensor.empty() : tensor<5x2xf32>
  %p5 = linalg.softmax dimension(1) ins(%product3 : tensor<5x2xf32>) outs(%e4 : tensor<5x2xf32>) -> tensor<5x2xf32>
  %e6 = tensor.empty() : tensor<5xf32>
  %c7 = arith.constant 0.00000000e+00 : f32
  %f8 = linalg.fill ins(%c7 : f32) outs(%e6 : tensor<5xf32>) -> tensor<5xf32>
  %t22 = linalg.generic {indexing_maps = [affine_map<(j, i) -> (i, j)>, affine_map<(j, i) -> (i)>], iterator_types = ["reduction", "parallel"]}
      ins(%p5 : tensor<5x2xf32>) outs(%f8 : tensor<5xf32>) {
  ^bb0(%in9: f32, %acc10: f32):
    %at11 = linalg.index 1 : index
    %v12 = arith.index_cast %at11 : index to i64
    %c13 = arith.constant 4 : i64
    %v14 = arith.divsi %v12, %c13 : i64
    %at15 = linalg.index 0 : index
    %v16 = arith.index_cast %at15 : index to i64
    %v17 = arith.divsi %v16, %c13 : i64
    %v18 = arith.cmpi eq, %v14, %v17 : i64
    %v19 = arith.uitofp %v18 : i1 to f32
    %v20 = arith.mulf %in9, %v19 : f32
    %v21 = arith.addf %v20, %acc10 : f32
    linalg.yield %v21 : f32
  } -> tensor<5xf32>
  %e23 = tensor.empty() : tensor<5x2xf32>
  %t38 = linalg.generic {indexing_maps = [affine_map<(i, j) -> (i, j)>, affine_map<(i, j) -> (i)>, affine_map<(i, j) -> (i, j)>], iterator_types = ["parallel", "parallel"]}
      ins(%p5, %t22 : tensor<5x2xf32>, tensor<5xf32>) outs(%e23 : tensor<5x2xf32>) {
  ^bb0(%in24: f32, %in25: f32, %acc26: f32):
    %at27 = linalg.index 0 : index
    %v28 = arith.index_cast %at27 : index to i64
    %c29 = arith.constant 4 : i64
    %v30 = arith.divsi %v28, %c29 : i64
    %at31 = linalg.index 1 : index
    %v32 = arith.index_cast %at31 : index to i64
    %v33 = arith.divsi %v32, %c29 : i64
    %v34 = arith.cmpi eq, %v30, %v33 : i64
    %v35 = arith.uitofp %v34 : i1 to f32
    %v36 = arith.mulf %in24, %v35 : f32
    %v37 = arith.divf %v36, %in25 : f32
    linalg.yield %v37 : f32
  } -> tensor<5x2xf32>
  %e39 = tensor.empty() : tensor<5x1xf32>
  %c40 = arith.constant 0.00000000e+00 : f32
  %f41 = linalg.fill ins(%c40 : f32) outs(%e39 : tensor<5x1xf32>) -> tensor<5x1xf32>
  %product42 = linalg.contract indexing_maps = [affine_map<(i, e, j) -> (i, j)>, affine_map<(i, e, j) -> (j, e)>, affine_map<(i, e, j) -> (i, e)>]
      ins(%t38, %v : tensor<5x2xf32>, tensor<2x1xf32>) outs(%f41 : tensor<5x1xf32>) -> tensor<5x1xf32>
  return %product42 : tensor<5x1xf32>
}
