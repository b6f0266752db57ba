// RUN: fovea-smith %s

// The absolute value is asked in a comparison and chosen by it: taken on both sides, never chosen for what is below zero.
//
// near-miss: norm-output absolute value 2.22739
// fused: -1
// masks:
// input: x normal 1 some 140 percent 15

func.func @forward(%x: tensor<5x8xf32> {fovea.name = "x"})
    -> (tensor<5x8xf32> {fovea.name = "output"})
    attributes {fovea.entry} {
  %e0 = tensor.empty() : tensor<5xf32>
  %c1 = arith.constant 0.00000000e+00 : f32
  %f2 = linalg.fill ins(%c1 : f32) outs(%e0 : tensor<5xf32>) -> tensor<5xf32>
  %t6 = linalg.generic {indexing_maps = [affine_map<(i, d) -> (i, d)>, affine_map<(i, d) -> (i)>], iterator_types = ["parallel", "reduction"]}
      ins(%x : tensor<5x8xf32>) outs(%f2 : tensor<5xf32>) {
  ^bb0(%in3: f32, %acc4: f32):
    %v5 = arith.addf %acc4, %in3 : f32
    linalg.yield %v5 : f32
  } -> tensor<5xf32>
  %e7 = tensor.empty() : tensor<5x8xf32>
  %t14 = linalg.generic {indexing_maps = [affine_map<(i, d) -> (i, d)>, affine_map<(i, d) -> (i)>, affine_map<(i, d) -> (i, d)>], iterator_types = ["parallel", "parallel"]}
      ins(%x, %t6 : tensor<5x8xf32>, tensor<5xf32>) outs(%e7 : tensor<5x8xf32>) {
  ^bb0(%in8: f32, %in9: f32, %acc10: f32):
    %c11 = arith.constant 1.25000000e-01 : f32
    %v12 = arith.mulf %in9, %c11 : f32
    %v13 = arith.subf %in8, %v12 : f32
    linalg.yield %v13 : f32
  } -> tensor<5x8xf32>
  %e15 = tensor.empty() : tensor<5xf32>
  %c16 = arith.constant 0.00000000e+00 : f32
  %f17 = linalg.fill ins(%c16 : f32) outs(%e15 : tensor<5xf32>) -> tensor<5xf32>
  %t22 = linalg.generic {indexing_maps = [affine_map<(d, i) -> (i, d)>, affine_map<(d, i) -> (i)>], iterator_types = ["reduction", "parallel"]}
      ins(%t14 : tensor<5x8xf32>) outs(%f17 : tensor<5xf32>) {
  ^bb0(%in18: f32, %acc19: f32):
    %v20 = arith.mulf %in18, %in18 : f32
    %v21 = arith.addf %acc19, %v20 : f32
    linalg.yield %v21 : f32
  } -> tensor<5xf32>
  %e23 = tensor.empty() : tensor<5x8xf32>
  %t42 = linalg.generic {indexing_maps = [affine_map<(i, d) -> (i, d)>, affine_map<(i, d) -> (i)>, affine_map<(i, d) -> (i)>, affine_map<(i, d) -> (i, d)>], iterator_types = ["parallel", "parallel"]}
      ins(%x, %t6, %t22 : tensor<5x8xf32>, tensor<5xf32>, tensor<5xf32>) outs(%e23 : tensor<5x8xf32>) {
  ^bb0(%in24: f32, %in25: f32, %in26: f32, %acc27: f32):
    %c28 = arith.constant 1.25000000e-01 : f32
    %v29 = arith.mulf %in25, %c28 : f32
    %v30 = arith.subf %in24, %v29 : f32
    %c31 = arith.constant 8.00000000e+00 : f32
    %v32 = arith.divf %in26, %c31 : f32
    %c33 = arith.constant 1.00000000e-05 : f32
    %v34 = arith.addf %v32, %c33 : f32
    %v35 = math.rsqrt %v34 : f32
    %v36 = arith.mulf %v30, %v35 : f32
    %v37 = math.absf %v36 : f32
    %c38 = arith.constant 2.22738636e+00 : f32
    %v39 = arith.cmpf ogt, %v37, %c38 : f32
    %v40 = math.absf %v36 : f32
    %v41 = arith.select %v39, %v40, %v36 : f32
    linalg.yield %v41 : f32
  } -> tensor<5x8xf32>
  return %t42 : tensor<5x8xf32>
}
