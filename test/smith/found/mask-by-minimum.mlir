// RUN: fovea-smith %s

// The mask is a minimum with infinity or its negative.
//
// choices: batch=1 heads=2 depth=4 batch-size=1 queries=5 keys=6 mask0=1 apply=8
// fused: 1
// masks: causal
// size: batch 1 6
// size: keys 6 7
// size: queries 5 9
// input: q normal 1
// input: k normal 1
// input: v normal 1

func.func @forward(%q: tensor<?x2x?x4xf32> {fovea.name = "q", fovea.dims = ["batch", "queries"]},
                   %k: tensor<?x2x?x4xf32> {fovea.name = "k", fovea.dims = ["batch", "keys"]},
                   %v: tensor<?x2x?x4xf32> {fovea.name = "v", fovea.dims = ["batch", "keys"]})
    -> (tensor<?x2x?x4xf32> {fovea.name = "output", fovea.dims = ["batch", "queries"]})
    attributes {fovea.entry} {
  %c0 = arith.constant 0 : index
  %batch = tensor.dim %q, %c0 : tensor<?x2x?x4xf32>
  %c1 = arith.constant 2 : index
  %queries = tensor.dim %q, %c1 : tensor<?x2x?x4xf32>
  %c2 = arith.constant 2 : index
  %keys = tensor.dim %k, %c2 : tensor<?x2x?x4xf32>
  %e3 = tensor.empty(%batch, %queries, %keys) : tensor<?x2x?x?xf32>
  %c4 = arith.constant 0.00000000e+00 : f32
  %f5 = linalg.fill ins(%c4 : f32) outs(%e3 : tensor<?x2x?x?xf32>) -> tensor<?x2x?x?xf32>
  %product6 = linalg.contract indexing_maps = [affine_map<(b, h, i, j, d) -> (b, h, i, d)>, affine_map<(b, h, i, j, d) -> (b, h, j, d)>, affine_map<(b, h, i, j, d) -> (b, h, i, j)>]
      ins(%q, %k : tensor<?x2x?x4xf32>, tensor<?x2x?x4xf32>) outs(%f5 : tensor<?x2x?x?xf32>) -> tensor<?x2x?x?xf32>
  %e7 = tensor.empty(%batch, %queries, %keys) : tensor<?x2x?x?xf32>
  %t21 = linalg.generic {indexing_maps = [affine_map<(b, h, i, j) -> (b, h, i, j)>, affine_map<(b, h, i, j) -> (b, h, i, j)>], iterator_types = ["parallel", "parallel", "parallel", "parallel"]}
      ins(%product6 : tensor<?x2x?x?xf32>) outs(%e7 : tensor<?x2x?x?xf32>) {
  ^bb0(%in8: f32, %acc9: f32):
    %at10 = linalg.index 3 : index
    %v11 = arith.index_cast %at10 : index to i64
    %at12 = linalg.index 2 : index
    %v13 = arith.index_cast %at12 : index to i64
    %c14 = arith.constant 1 : i64
    %v15 = arith.addi %v13, %c14 : i64
    %v16 = arith.cmpi slt, %v11, %v15 : i64
    %c17 = arith.constant 0x7F800000 : f32
    %c18 = arith.constant 0xFF800000 : f32
    %v19 = arith.select %v16, %c17, %c18 : f32
    %v20 = arith.minimumf %in8, %v19 : f32
    linalg.yield %v20 : f32
  } -> tensor<?x2x?x?xf32>
  %e22 = tensor.empty(%batch, %queries, %keys) : tensor<?x2x?x?xf32>
  %p23 = linalg.softmax dimension(3) ins(%t21 : tensor<?x2x?x?xf32>) outs(%e22 : tensor<?x2x?x?xf32>) -> tensor<?x2x?x?xf32>
  %e24 = tensor.empty(%batch, %queries) : tensor<?x2x?x4xf32>
  %c25 = arith.constant 0.00000000e+00 : f32
  %f26 = linalg.fill ins(%c25 : f32) outs(%e24 : tensor<?x2x?x4xf32>) -> tensor<?x2x?x4xf32>
  %product27 = linalg.contract indexing_maps = [affine_map<(b, h, i, e, j) -> (b, h, i, j)>, affine_map<(b, h, i, e, j) -> (b, h, j, e)>, affine_map<(b, h, i, e, j) -> (b, h, i, e)>]
      ins(%p23, %v : tensor<?x2x?x?xf32>, tensor<?x2x?x4xf32>) outs(%f26 : tensor<?x2x?x4xf32>) -> tensor<?x2x?x4xf32>
  return %product27 : tensor<?x2x?x4xf32>
}
