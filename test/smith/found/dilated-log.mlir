// RUN: fovea-smith %s

// Every second key: the places that were tried never differed by an odd number.
//
// choices: batch=1 depth=5 self=1 batch-size=1 queries=8 keys=8 mask0=19 apply=6
// fused: 1
// masks: dense|segment
// size: batch 1 6
// size: length 8 12
// input: q normal 1
// input: k normal 1
// input: v normal 1

func.func @forward(%q: tensor<?x?x5xf32> {fovea.name = "q", fovea.dims = ["batch", "length"]},
                   %k: tensor<?x?x5xf32> {fovea.name = "k", fovea.dims = ["batch", "length"]},
                   %v: tensor<?x?x5xf32> {fovea.name = "v", fovea.dims = ["batch", "length"]})
    -> (tensor<?x?x5xf32> {fovea.name = "output", fovea.dims = ["batch", "length"]})
    attributes {fovea.entry} {
  %c0 = arith.constant 0 : index
  %batch = tensor.dim %q, %c0 : tensor<?x?x5xf32>
  %c1 = arith.constant 1 : index
  %length = tensor.dim %q, %c1 : tensor<?x?x5xf32>
  %e2 = tensor.empty(%batch, %length, %length) : tensor<?x?x?xf32>
  %c3 = arith.constant 0.00000000e+00 : f32
  %f4 = linalg.fill ins(%c3 : f32) outs(%e2 : tensor<?x?x?xf32>) -> tensor<?x?x?xf32>
  %product5 = linalg.contract indexing_maps = [affine_map<(b, i, j, d) -> (b, i, d)>, affine_map<(b, i, j, d) -> (b, j, d)>, affine_map<(b, i, j, d) -> (b, i, j)>]
      ins(%q, %k : tensor<?x?x5xf32>, tensor<?x?x5xf32>) outs(%f4 : tensor<?x?x?xf32>) -> tensor<?x?x?xf32>
  %e6 = tensor.empty(%batch, %length, %length) : tensor<?x?x?xf32>
  %t21 = linalg.generic {indexing_maps = [affine_map<(b, j, i) -> (b, i, j)>, affine_map<(b, j, i) -> (b, i, j)>], iterator_types = ["parallel", "parallel", "parallel"]}
      ins(%product5 : tensor<?x?x?xf32>) outs(%e6 : tensor<?x?x?xf32>) {
  ^bb0(%in7: f32, %acc8: f32):
    %at9 = linalg.index 2 : index
    %v10 = arith.index_cast %at9 : index to i64
    %at11 = linalg.index 1 : index
    %v12 = arith.index_cast %at11 : index to i64
    %v13 = arith.subi %v10, %v12 : i64
    %c14 = arith.constant 2 : i64
    %v15 = arith.remsi %v13, %c14 : i64
    %c16 = arith.constant 0 : i64
    %v17 = arith.cmpi eq, %v15, %c16 : i64
    %v18 = arith.uitofp %v17 : i1 to f32
    %v19 = math.log %v18 : f32
    %v20 = arith.addf %in7, %v19 : f32
    linalg.yield %v20 : f32
  } -> tensor<?x?x?xf32>
  %e22 = tensor.empty(%batch, %length, %length) : tensor<?x?x?xf32>
  %p23 = linalg.softmax dimension(2) ins(%t21 : tensor<?x?x?xf32>) outs(%e22 : tensor<?x?x?xf32>) -> tensor<?x?x?xf32>
  %e24 = tensor.empty(%batch, %length) : tensor<?x?x5xf32>
  %c25 = arith.constant 0.00000000e+00 : f32
  %f26 = linalg.fill ins(%c25 : f32) outs(%e24 : tensor<?x?x5xf32>) -> tensor<?x?x5xf32>
  %product27 = linalg.contract indexing_maps = [affine_map<(b, i, e, j) -> (b, i, j)>, affine_map<(b, i, e, j) -> (b, j, e)>, affine_map<(b, i, e, j) -> (b, i, e)>]
      ins(%p23, %v : tensor<?x?x?xf32>, tensor<?x?x5xf32>) outs(%f26 : tensor<?x?x5xf32>) -> tensor<?x?x5xf32>
  return %product27 : tensor<?x?x5xf32>
}
