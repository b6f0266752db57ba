// RUN: fovea-smith %s

// The first row has no key; without a maximum its exponentials are zero, and the result is no mean.
//
// choices: batch=1 heads=2 depth=4 self=1 batch-size=1 queries=8 keys=8 mask0=7 apply=2 softmax=2 shift=2 norm=2
// fused: 1
// masks: window
// size: batch 1 6
// size: length 8 12
// input: q normal 1
// input: k normal 1
// input: v normal 1

func.func @forward(%q: tensor<?x2x?x4xf32> {fovea.name = "q", fovea.dims = ["batch", "length"]},
                   %k: tensor<?x2x?x4xf32> {fovea.name = "k", fovea.dims = ["batch", "length"]},
                   %v: tensor<?x2x?x4xf32> {fovea.name = "v", fovea.dims = ["batch", "length"]})
    -> (tensor<?x2x?x4xf32> {fovea.name = "output", fovea.dims = ["batch", "length"]})
    attributes {fovea.entry} {
  %c0 = arith.constant 0 : index
  %batch = tensor.dim %q, %c0 : tensor<?x2x?x4xf32>
  %c1 = arith.constant 2 : index
  %length = tensor.dim %q, %c1 : tensor<?x2x?x4xf32>
  %e2 = tensor.empty(%batch, %length, %length) : tensor<?x2x?x?xf32>
  %c3 = arith.constant 0.00000000e+00 : f32
  %f4 = linalg.fill ins(%c3 : f32) outs(%e2 : tensor<?x2x?x?xf32>) -> tensor<?x2x?x?xf32>
  %product5 = linalg.contract indexing_maps = [affine_map<(b, h, i, j, d) -> (b, h, i, d)>, affine_map<(b, h, i, j, d) -> (b, h, j, d)>, affine_map<(b, h, i, j, d) -> (b, h, i, j)>]
      ins(%q, %k : tensor<?x2x?x4xf32>, tensor<?x2x?x4xf32>) outs(%f4 : tensor<?x2x?x?xf32>) -> tensor<?x2x?x?xf32>
  %e6 = tensor.empty(%batch, %length, %length) : tensor<?x2x?x?xf32>
  %t18 = linalg.generic {indexing_maps = [affine_map<(b, h, i, j) -> (b, h, i, j)>, affine_map<(b, h, i, j) -> (b, h, i, j)>], iterator_types = ["parallel", "parallel", "parallel", "parallel"]}
      ins(%product5 : tensor<?x2x?x?xf32>) outs(%e6 : tensor<?x2x?x?xf32>) {
  ^bb0(%in7: f32, %acc8: f32):
    %at9 = linalg.index 3 : index
    %v10 = arith.index_cast %at9 : index to i64
    %at11 = linalg.index 2 : index
    %v12 = arith.index_cast %at11 : index to i64
    %v13 = arith.cmpi slt, %v10, %v12 : i64
    %c14 = arith.constant true
    %v15 = arith.xori %v13, %c14 : i1
    %c16 = arith.constant -3.40282340e+38 : f32
    %v17 = arith.select %v15, %c16, %in7 : f32
    linalg.yield %v17 : f32
  } -> tensor<?x2x?x?xf32>
  %e19 = tensor.empty(%batch, %length, %length) : tensor<?x2x?x?xf32>
  %t27 = linalg.generic {indexing_maps = [affine_map<(b, h, j, i) -> (b, h, i, j)>, affine_map<(b, h, j, i) -> (b, h, i, j)>], iterator_types = ["parallel", "parallel", "parallel", "parallel"]}
      ins(%t18 : tensor<?x2x?x?xf32>) outs(%e19 : tensor<?x2x?x?xf32>) {
  ^bb0(%in20: f32, %acc21: f32):
    %c22 = arith.constant 2.00000000e+00 : f32
    %v23 = arith.subf %in20, %c22 : f32
    %c24 = arith.constant 1.44269504e+00 : f32
    %v25 = arith.mulf %v23, %c24 : f32
    %v26 = math.exp2 %v25 : f32
    linalg.yield %v26 : f32
  } -> tensor<?x2x?x?xf32>
  %e28 = tensor.empty(%batch, %length) : tensor<?x2x?xf32>
  %c29 = arith.constant 0.00000000e+00 : f32
  %f30 = linalg.fill ins(%c29 : f32) outs(%e28 : tensor<?x2x?xf32>) -> tensor<?x2x?xf32>
  %t34 = linalg.generic {indexing_maps = [affine_map<(b, h, i, j) -> (b, h, i, j)>, affine_map<(b, h, i, j) -> (b, h, i)>], iterator_types = ["parallel", "parallel", "parallel", "reduction"]}
      ins(%t27 : tensor<?x2x?x?xf32>) outs(%f30 : tensor<?x2x?xf32>) {
  ^bb0(%in31: f32, %acc32: f32):
    %v33 = arith.addf %acc32, %in31 : f32
    linalg.yield %v33 : f32
  } -> tensor<?x2x?xf32>
  %e35 = tensor.empty(%batch, %length) : tensor<?x2x?x4xf32>
  %c36 = arith.constant 0.00000000e+00 : f32
  %f37 = linalg.fill ins(%c36 : f32) outs(%e35 : tensor<?x2x?x4xf32>) -> tensor<?x2x?x4xf32>
  %product38 = linalg.contract indexing_maps = [affine_map<(b, h, i, e, j) -> (b, h, i, j)>, affine_map<(b, h, i, e, j) -> (b, h, j, e)>, affine_map<(b, h, i, e, j) -> (b, h, i, e)>]
      ins(%t27, %v : tensor<?x2x?x?xf32>, tensor<?x2x?x4xf32>) outs(%f37 : tensor<?x2x?x4xf32>) -> tensor<?x2x?x4xf32>
  %e39 = tensor.empty(%batch, %length) : tensor<?x2x?x4xf32>
  %t44 = linalg.generic {indexing_maps = [affine_map<(b, h, i, e) -> (b, h, i, e)>, affine_map<(b, h, i, e) -> (b, h, i)>, affine_map<(b, h, i, e) -> (b, h, i, e)>], iterator_types = ["parallel", "parallel", "parallel", "parallel"]}
      ins(%product38, %t34 : tensor<?x2x?x4xf32>, tensor<?x2x?xf32>) outs(%e39 : tensor<?x2x?x4xf32>) {
  ^bb0(%in40: f32, %in41: f32, %acc42: f32):
    %v43 = arith.divf %in40, %in41 : f32
    linalg.yield %v43 : f32
  } -> tensor<?x2x?x4xf32>
  return %t44 : tensor<?x2x?x4xf32>
}
