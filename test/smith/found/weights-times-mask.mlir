// RUN: fovea-smith %s

// Weights times the mask, divided by a sum that is written as a product of both.
//
// choices: batch=1 heads=2 depth=4 batch-size=1 queries=5 keys=6 mask0=8 apply=10 style=3
// fused: -1
// masks: length
// size: batch 1 6
// size: keys 6 7
// size: queries 5 9
// input: q normal 1
// input: k normal 1
// input: v normal 1
// input: length0 upto keys 1

func.func @forward(%q: tensor<?x2x?x4xf32> {fovea.name = "q", fovea.dims = ["batch", "queries"]},
                   %k: tensor<?x2x?x4xf32> {fovea.name = "k", fovea.dims = ["batch", "keys"]},
                   %v: tensor<?x2x?x4xf32> {fovea.name = "v", fovea.dims = ["batch", "keys"]},
                   %length0: tensor<?xi32> {fovea.name = "length0", fovea.dims = ["batch"]})
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
  %p8 = linalg.softmax dimension(3) ins(%product6 : tensor<?x2x?x?xf32>) outs(%e7 : tensor<?x2x?x?xf32>) -> tensor<?x2x?x?xf32>
  %e9 = tensor.empty(%keys) : tensor<?xi64>
  %t13 = linalg.generic {indexing_maps = [affine_map<(j) -> (j)>], iterator_types = ["parallel"]}
      outs(%e9 : tensor<?xi64>) {
  ^bb0(%acc10: i64):
    %at11 = linalg.index 0 : index
    %v12 = arith.index_cast %at11 : index to i64
    linalg.yield %v12 : i64
  } -> tensor<?xi64>
  %w14 = arith.extsi %length0 : tensor<?xi32> to tensor<?xi64>
  %e15 = tensor.empty(%batch, %keys) : tensor<?x?xi64>
  %wide16 = linalg.broadcast ins(%t13 : tensor<?xi64>) outs(%e15 : tensor<?x?xi64>) dimensions = [0]
  %e17 = tensor.empty(%batch, %keys) : tensor<?x?xi64>
  %wide18 = linalg.broadcast ins(%w14 : tensor<?xi64>) outs(%e17 : tensor<?x?xi64>) dimensions = [1]
  %w19 = arith.cmpi slt, %wide16, %wide18 : tensor<?x?xi64>
  %w20 = arith.uitofp %w19 : tensor<?x?xi1> to tensor<?x?xf32>
  %e21 = tensor.empty(%batch, %queries) : tensor<?x2x?xf32>
  %c22 = arith.constant 0.00000000e+00 : f32
  %f23 = linalg.fill ins(%c22 : f32) outs(%e21 : tensor<?x2x?xf32>) -> tensor<?x2x?xf32>
  %t29 = linalg.generic {indexing_maps = [affine_map<(b, h, i, j) -> (b, h, i, j)>, affine_map<(b, h, i, j) -> (b, j)>, affine_map<(b, h, i, j) -> (b, h, i)>], iterator_types = ["parallel", "parallel", "parallel", "reduction"]}
      ins(%p8, %w20 : tensor<?x2x?x?xf32>, tensor<?x?xf32>) outs(%f23 : tensor<?x2x?xf32>) {
  ^bb0(%in24: f32, %in25: f32, %acc26: f32):
    %v27 = arith.mulf %in24, %in25 : f32
    %v28 = arith.addf %v27, %acc26 : f32
    linalg.yield %v28 : f32
  } -> tensor<?x2x?xf32>
  %e30 = tensor.empty(%batch, %queries, %keys) : tensor<?x2x?x?xf32>
  %wide31 = linalg.broadcast ins(%w20 : tensor<?x?xf32>) outs(%e30 : tensor<?x2x?x?xf32>) dimensions = [1, 2]
  %w32 = arith.mulf %p8, %wide31 : tensor<?x2x?x?xf32>
  %e33 = tensor.empty(%batch, %queries, %keys) : tensor<?x2x?x?xf32>
  %wide34 = linalg.broadcast ins(%t29 : tensor<?x2x?xf32>) outs(%e33 : tensor<?x2x?x?xf32>) dimensions = [3]
  %w35 = arith.divf %w32, %wide34 : tensor<?x2x?x?xf32>
  %e36 = tensor.empty(%batch, %queries) : tensor<?x2x?x4xf32>
  %c37 = arith.constant 0.00000000e+00 : f32
  %f38 = linalg.fill ins(%c37 : f32) outs(%e36 : tensor<?x2x?x4xf32>) -> tensor<?x2x?x4xf32>
  %product39 = linalg.contract indexing_maps = [affine_map<(b, h, i, e, j) -> (b, h, i, j)>, affine_map<(b, h, i, e, j) -> (b, h, j, e)>, affine_map<(b, h, i, e, j) -> (b, h, i, e)>]
      ins(%w35, %v : tensor<?x2x?x?xf32>, tensor<?x2x?x4xf32>) outs(%f38 : tensor<?x2x?x4xf32>) -> tensor<?x2x?x4xf32>
  return %product39 : tensor<?x2x?x4xf32>
}
