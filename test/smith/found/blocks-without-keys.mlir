// RUN: fovea-smith %s

// A mask by blocks that only queries decide, since all keys are in one block: a row without keys is 0/0.
//
// choices: batch=1 heads=1 group=2 depth=1 static=6 batch-size=1 queries=4 keys=2 mask0=18 apply=10 spelling=1
// fused: -1
// masks: *
// size: batch 1 2
// input: q normal 1
// input: k normal 1
// input: v normal 1

func.func @forward(%q: tensor<?x1x2x4x1xf32> {fovea.name = "q", fovea.dims = ["batch"]},
                   %k: tensor<?x1x2x1xf32> {fovea.name = "k", fovea.dims = ["batch"]},
                   %v: tensor<?x1x2x1xf32> {fovea.name = "v", fovea.dims = ["batch"]})
    -> (tensor<?x1x2x4x1xf32> {fovea.name = "output", fovea.dims = ["batch"]})
    attributes {fovea.entry} {
  %c0 = arith.constant 0 : index
  %batch = tensor.dim %q, %c0 : tensor<?x1x2x4x1xf32>
  %e1 = tensor.empty(%batch) : tensor<?x1x2x4x2xf32>
  %c2 = arith.constant 0.00000000e+00 : f32
  %f3 = linalg.fill ins(%c2 : f32) outs(%e1 : tensor<?x1x2x4x2xf32>) -> tensor<?x1x2x4x2xf32>
  %product4 = linalg.contract indexing_maps = [affine_map<(b, k, g, i, j, d) -> (b, k, g, i, d)>, affine_map<(b, k, g, i, j, d) -> (b, k, j, d)>, affine_map<(b, k, g, i, j, d) -> (b, k, g, i, j)>]
      ins(%q, %k : tensor<?x1x2x4x1xf32>, tensor<?x1x2x1xf32>) outs(%f3 : tensor<?x1x2x4x2xf32>) -> tensor<?x1x2x4x2xf32>
  %e5 = tensor.empty(%batch) : tensor<?x1x2x4x2xf32>
  %p6 = linalg.softmax dimension(4) ins(%product4 : tensor<?x1x2x4x2xf32>) outs(%e5 : tensor<?x1x2x4x2xf32>) -> tensor<?x1x2x4x2xf32>
  %e7 = tensor.empty(%batch) : tensor<?x1x2x4xf32>
  %c8 = arith.constant 0.00000000e+00 : f32
  %f9 = linalg.fill ins(%c8 : f32) outs(%e7 : tensor<?x1x2x4xf32>) -> tensor<?x1x2x4xf32>
  %t23 = linalg.generic {indexing_maps = [affine_map<(k, j, b, g, i) -> (b, k, g, i, j)>, affine_map<(k, j, b, g, i) -> (b, k, g, i)>], iterator_types = ["parallel", "reduction", "parallel", "parallel", "parallel"]}
      ins(%p6 : tensor<?x1x2x4x2xf32>) outs(%f9 : tensor<?x1x2x4xf32>) {
  ^bb0(%in10: f32, %acc11: f32):
    %at12 = linalg.index 4 : index
    %v13 = arith.index_cast %at12 : index to i64
    %c14 = arith.constant 3 : i64
    %v15 = arith.divsi %v13, %c14 : i64
    %at16 = linalg.index 1 : index
    %v17 = arith.index_cast %at16 : index to i64
    %v18 = arith.divsi %v17, %c14 : i64
    %v19 = arith.cmpi eq, %v15, %v18 : i64
    %v20 = arith.uitofp %v19 : i1 to f32
    %v21 = arith.mulf %in10, %v20 : f32
    %v22 = arith.addf %acc11, %v21 : f32
    linalg.yield %v22 : f32
  } -> tensor<?x1x2x4xf32>
  %e24 = tensor.empty(%batch) : tensor<?x1x2x4x2xf32>
  %t39 = linalg.generic {indexing_maps = [affine_map<(b, k, g, i, j) -> (b, k, g, i, j)>, affine_map<(b, k, g, i, j) -> (b, k, g, i)>, affine_map<(b, k, g, i, j) -> (b, k, g, i, j)>], iterator_types = ["parallel", "parallel", "parallel", "parallel", "parallel"]}
      ins(%p6, %t23 : tensor<?x1x2x4x2xf32>, tensor<?x1x2x4xf32>) outs(%e24 : tensor<?x1x2x4x2xf32>) {
  ^bb0(%in25: f32, %in26: f32, %acc27: f32):
    %at28 = linalg.index 3 : index
    %v29 = arith.index_cast %at28 : index to i64
    %c30 = arith.constant 3 : i64
    %v31 = arith.divsi %v29, %c30 : i64
    %at32 = linalg.index 4 : index
    %v33 = arith.index_cast %at32 : index to i64
    %v34 = arith.divsi %v33, %c30 : i64
    %v35 = arith.cmpi eq, %v31, %v34 : i64
    %v36 = arith.uitofp %v35 : i1 to f32
    %v37 = arith.mulf %in25, %v36 : f32
    %v38 = arith.divf %v37, %in26 : f32
    linalg.yield %v38 : f32
  } -> tensor<?x1x2x4x2xf32>
  %e40 = tensor.empty(%batch) : tensor<?x1x2x4x1xf32>
  %c41 = arith.constant 0.00000000e+00 : f32
  %f42 = linalg.fill ins(%c41 : f32) outs(%e40 : tensor<?x1x2x4x1xf32>) -> tensor<?x1x2x4x1xf32>
  %product43 = linalg.contract indexing_maps = [affine_map<(b, k, g, i, e, j) -> (b, k, g, i, j)>, affine_map<(b, k, g, i, e, j) -> (b, k, j, e)>, affine_map<(b, k, g, i, e, j) -> (b, k, g, i, e)>]
      ins(%t39, %v : tensor<?x1x2x4x2xf32>, tensor<?x1x2x1xf32>) outs(%f42 : tensor<?x1x2x4x1xf32>) -> tensor<?x1x2x4x1xf32>
  return %product43 : tensor<?x1x2x4x1xf32>
}
