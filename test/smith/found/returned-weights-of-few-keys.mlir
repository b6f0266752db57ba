// RUN: fovea-smith %s

// A mask leaves each second row one key, which draws of single keys seldom met.
//
// choices: batch=1 depth=10 self=1 batch-size=1 queries=1 keys=1 mask0=7 mask1=18 returns=1 spelling=239977054
// fused: 1
// masks: dense|segment window
// size: batch 1 3
// size: length 1 3
// input: q normal 1
// input: k normal 1
// input: v normal 1

func.func @forward(%q: tensor<?x?x10xf32> {fovea.name = "q", fovea.dims = ["batch", "length"]},
                   %k: tensor<?x?x10xf32> {fovea.name = "k", fovea.dims = ["batch", "length"]},
                   %v: tensor<?x?x10xf32> {fovea.name = "v", fovea.dims = ["batch", "length"]})
    -> (tensor<?x?x10xf32> {fovea.name = "output", fovea.dims = ["batch", "length"]}, tensor<?x?x?xf32> {fovea.name = "weights", fovea.dims = ["batch", "length", "length"]})
    attributes {fovea.entry} {
  %c0 = arith.constant 0 : index
  %batch = tensor.dim %q, %c0 : tensor<?x?x10xf32>
  %c1 = arith.constant 1 : index
  %length = tensor.dim %q, %c1 : tensor<?x?x10xf32>
  %e2 = tensor.empty(%batch, %length, %length) : tensor<?x?x?xf32>
  %c3 = arith.constant 0.00000000e+00 : f32
  %f4 = linalg.fill ins(%c3 : f32) outs(%e2 : tensor<?x?x?xf32>) -> tensor<?x?x?xf32>
  %product5 = linalg.contract indexing_maps = [affine_map<(b, i, j, d) -> (b, i, d)>, affine_map<(b, i, j, d) -> (b, j, d)>, affine_map<(b, i, j, d) -> (b, i, j)>]
      ins(%q, %k : tensor<?x?x10xf32>, tensor<?x?x10xf32>) outs(%f4 : tensor<?x?x?xf32>) -> tensor<?x?x?xf32>
  %e6 = tensor.empty(%batch, %length, %length) : tensor<?x?x?xf32>
  %t25 = linalg.generic {indexing_maps = [affine_map<(b, i, j) -> (b, i, j)>, affine_map<(b, i, j) -> (b, i, j)>], iterator_types = ["parallel", "parallel", "parallel"]}
      ins(%product5 : tensor<?x?x?xf32>) outs(%e6 : tensor<?x?x?xf32>) {
  ^bb0(%in7: f32, %acc8: f32):
    %at9 = linalg.index 2 : index
    %at10 = linalg.index 1 : index
    %v11 = arith.cmpi slt, %at9, %at10 : index
    %at12 = linalg.index 1 : index
    %v13 = arith.index_cast %at12 : index to i64
    %c14 = arith.constant 2 : i64
    %v15 = arith.divsi %v13, %c14 : i64
    %at16 = linalg.index 2 : index
    %v17 = arith.index_cast %at16 : index to i64
    %v18 = arith.divsi %v17, %c14 : i64
    %v19 = arith.cmpi eq, %v15, %v18 : i64
    %v20 = arith.andi %v11, %v19 : i1
    %c21 = arith.constant true
    %v22 = arith.xori %v20, %c21 : i1
    %c23 = arith.constant 0xFF800000 : f32
    %v24 = arith.select %v22, %c23, %in7 : f32
    linalg.yield %v24 : f32
  } -> tensor<?x?x?xf32>
  %e26 = tensor.empty(%batch, %length, %length) : tensor<?x?x?xf32>
  %p27 = linalg.softmax dimension(2) ins(%t25 : tensor<?x?x?xf32>) outs(%e26 : tensor<?x?x?xf32>) -> tensor<?x?x?xf32>
  %e28 = tensor.empty(%batch, %length) : tensor<?x?x10xf32>
  %c29 = arith.constant 0.00000000e+00 : f32
  %f30 = linalg.fill ins(%c29 : f32) outs(%e28 : tensor<?x?x10xf32>) -> tensor<?x?x10xf32>
  %product31 = linalg.contract indexing_maps = [affine_map<(b, i, e, j) -> (b, i, j)>, affine_map<(b, i, e, j) -> (b, j, e)>, affine_map<(b, i, e, j) -> (b, i, e)>]
      ins(%p27, %v : tensor<?x?x?xf32>, tensor<?x?x10xf32>) outs(%f30 : tensor<?x?x10xf32>) -> tensor<?x?x10xf32>
  return %product31, %p27 : tensor<?x?x10xf32>, tensor<?x?x?xf32>
}
