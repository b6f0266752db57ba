// RUN: fovea-smith %s

// The only fixed axis that keys have is the batch if lengths have it.
//
// choices: batch=1 heads=1 group=2 depth=2 static=1 batch-size=2 queries=5 keys=6 mask0=11
// fused: 1
// masks: prefix
// size: keys 6 10
// size: queries 5 10
// input: q normal 1
// input: k normal 1
// input: v normal 1
// input: length0 upto keys 0

func.func @forward(%q: tensor<2x1x2x?x2xf32> {fovea.name = "q", fovea.dims = ["queries"]},
                   %k: tensor<2x1x?x2xf32> {fovea.name = "k", fovea.dims = ["keys"]},
                   %v: tensor<2x1x?x2xf32> {fovea.name = "v", fovea.dims = ["keys"]},
                   %length0: tensor<2xi32> {fovea.name = "length0"})
    -> (tensor<2x1x2x?x2xf32> {fovea.name = "output", fovea.dims = ["queries"]})
    attributes {fovea.entry} {
  %c0 = arith.constant 3 : index
  %queries = tensor.dim %q, %c0 : tensor<2x1x2x?x2xf32>
  %c1 = arith.constant 2 : index
  %keys = tensor.dim %k, %c1 : tensor<2x1x?x2xf32>
  %e2 = tensor.empty(%queries, %keys) : tensor<2x1x2x?x?xf32>
  %c3 = arith.constant 0.00000000e+00 : f32
  %f4 = linalg.fill ins(%c3 : f32) outs(%e2 : tensor<2x1x2x?x?xf32>) -> tensor<2x1x2x?x?xf32>
  %product5 = linalg.contract indexing_maps = [affine_map<(b, k, g, i, j, d) -> (b, k, g, i, d)>, affine_map<(b, k, g, i, j, d) -> (b, k, j, d)>, affine_map<(b, k, g, i, j, d) -> (b, k, g, i, j)>]
      ins(%q, %k : tensor<2x1x2x?x2xf32>, tensor<2x1x?x2xf32>) outs(%f4 : tensor<2x1x2x?x?xf32>) -> tensor<2x1x2x?x?xf32>
  %e6 = tensor.empty(%queries, %keys) : tensor<2x1x2x?x?xf32>
  %t24 = linalg.generic {indexing_maps = [affine_map<(b, k, g, i, j) -> (b)>, affine_map<(b, k, g, i, j) -> (b, k, g, i, j)>, affine_map<(b, k, g, i, j) -> (b, k, g, i, j)>], iterator_types = ["parallel", "parallel", "parallel", "parallel", "parallel"]}
      ins(%length0, %product5 : tensor<2xi32>, tensor<2x1x2x?x?xf32>) outs(%e6 : tensor<2x1x2x?x?xf32>) {
  ^bb0(%in7: i32, %in8: f32, %acc9: f32):
    %at10 = linalg.index 4 : index
    %v11 = arith.index_cast %at10 : index to i64
    %at12 = linalg.index 3 : index
    %v13 = arith.index_cast %at12 : index to i64
    %c14 = arith.constant 1 : i64
    %v15 = arith.addi %v13, %c14 : i64
    %v16 = arith.cmpi slt, %v11, %v15 : i64
    %v17 = arith.extsi %in7 : i32 to i64
    %v18 = arith.cmpi slt, %v11, %v17 : i64
    %v19 = arith.ori %v16, %v18 : i1
    %c20 = arith.constant true
    %v21 = arith.xori %v19, %c20 : i1
    %c22 = arith.constant 0xFF800000 : f32
    %v23 = arith.select %v21, %c22, %in8 : f32
    linalg.yield %v23 : f32
  } -> tensor<2x1x2x?x?xf32>
  %e25 = tensor.empty(%queries, %keys) : tensor<2x1x2x?x?xf32>
  %p26 = linalg.softmax dimension(4) ins(%t24 : tensor<2x1x2x?x?xf32>) outs(%e25 : tensor<2x1x2x?x?xf32>) -> tensor<2x1x2x?x?xf32>
  %e27 = tensor.empty(%queries) : tensor<2x1x2x?x2xf32>
  %c28 = arith.constant 0.00000000e+00 : f32
  %f29 = linalg.fill ins(%c28 : f32) outs(%e27 : tensor<2x1x2x?x2xf32>) -> tensor<2x1x2x?x2xf32>
  %product30 = linalg.contract indexing_maps = [affine_map<(b, k, g, i, e, j) -> (b, k, g, i, j)>, affine_map<(b, k, g, i, e, j) -> (b, k, j, e)>, affine_map<(b, k, g, i, e, j) -> (b, k, g, i, e)>]
      ins(%p26, %v : tensor<2x1x2x?x?xf32>, tensor<2x1x?x2xf32>) outs(%f29 : tensor<2x1x2x?x2xf32>) -> tensor<2x1x2x?x2xf32>
  return %product30 : tensor<2x1x2x?x2xf32>
}
