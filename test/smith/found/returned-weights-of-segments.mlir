// RUN: fovea-smith %s

// Weights that others read, where segments of three are all that is seen: the distances that were drawn missed them.
//
// choices: batch=1 depth=2 self=1 batch-size=1 queries=1 keys=1 mask0=18 returns=1 spelling=1
// fused: 1
// masks: dense|segment
// size: batch 1 2
// size: length 1 6
// input: q normal 1
// input: k normal 1
// input: v normal 1

func.func @forward(%q: tensor<?x?x2xf32> {fovea.name = "q", fovea.dims = ["batch", "length"]},
                   %k: tensor<?x?x2xf32> {fovea.name = "k", fovea.dims = ["batch", "length"]},
                   %v: tensor<?x?x2xf32> {fovea.name = "v", fovea.dims = ["batch", "length"]})
    -> (tensor<?x?x2xf32> {fovea.name = "output", fovea.dims = ["batch", "length"]}, tensor<?x?x?xf32> {fovea.name = "weights", fovea.dims = ["batch", "length", "length"]})
    attributes {fovea.entry} {
  %c0 = arith.constant 0 : index
  %batch = tensor.dim %q, %c0 : tensor<?x?x2xf32>
  %c1 = arith.constant 1 : index
  %length = tensor.dim %q, %c1 : tensor<?x?x2xf32>
  %e2 = tensor.empty(%batch, %length, %length) : tensor<?x?x?xf32>
  %c3 = arith.constant 0.00000000e+00 : f32
  %f4 = linalg.fill ins(%c3 : f32) outs(%e2 : tensor<?x?x?xf32>) -> tensor<?x?x?xf32>
  %product5 = linalg.contract indexing_maps = [affine_map<(b, i, j, d) -> (b, i, d)>, affine_map<(b, i, j, d) -> (b, j, d)>, affine_map<(b, i, j, d) -> (b, i, j)>]
      ins(%q, %k : tensor<?x?x2xf32>, tensor<?x?x2xf32>) outs(%f4 : tensor<?x?x?xf32>) -> tensor<?x?x?xf32>
  %e6 = tensor.empty(%batch, %length, %length) : tensor<?x?x?xf32>
  %t19 = linalg.generic {indexing_maps = [affine_map<(j, i, b) -> (b, i, j)>, affine_map<(j, i, b) -> (b, i, j)>], iterator_types = ["parallel", "parallel", "parallel"]}
      ins(%product5 : tensor<?x?x?xf32>) outs(%e6 : tensor<?x?x?xf32>) {
  ^bb0(%in7: f32, %acc8: f32):
    %at9 = linalg.index 1 : index
    %v10 = arith.index_cast %at9 : index to i64
    %c11 = arith.constant 3 : i64
    %v12 = arith.divsi %v10, %c11 : i64
    %at13 = linalg.index 0 : index
    %v14 = arith.index_cast %at13 : index to i64
    %v15 = arith.divsi %v14, %c11 : i64
    %v16 = arith.cmpi eq, %v12, %v15 : i64
    %c17 = arith.constant 0xFF800000 : f32
    %v18 = arith.select %v16, %in7, %c17 : f32
    linalg.yield %v18 : f32
  } -> tensor<?x?x?xf32>
  %e20 = tensor.empty(%batch, %length, %length) : tensor<?x?x?xf32>
  %p21 = linalg.softmax dimension(2) ins(%t19 : tensor<?x?x?xf32>) outs(%e20 : tensor<?x?x?xf32>) -> tensor<?x?x?xf32>
  %e22 = tensor.empty(%batch, %length) : tensor<?x?x2xf32>
  %c23 = arith.constant 0.00000000e+00 : f32
  %f24 = linalg.fill ins(%c23 : f32) outs(%e22 : tensor<?x?x2xf32>) -> tensor<?x?x2xf32>
  %product25 = linalg.contract indexing_maps = [affine_map<(b, i, e, j) -> (b, i, j)>, affine_map<(b, i, e, j) -> (b, j, e)>, affine_map<(b, i, e, j) -> (b, i, e)>]
      ins(%p21, %v : tensor<?x?x?xf32>, tensor<?x?x2xf32>) outs(%f24 : tensor<?x?x2xf32>) -> tensor<?x?x2xf32>
  return %product25, %p21 : tensor<?x?x2xf32>, tensor<?x?x?xf32>
}
