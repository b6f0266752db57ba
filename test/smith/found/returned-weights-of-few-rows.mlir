// RUN: fovea-smith %s

// Weights that others read, of which causal masks leave few: they were not known as the softmax.
//
// choices: depth=2 static=5 batch-size=1 queries=1 keys=63 mask0=1 returns=1
// fused: 1
// masks: *
// size: queries 1 6
// input: q normal 1
// input: k normal 1
// input: v normal 1

func.func @forward(%q: tensor<?x2xf32> {fovea.name = "q", fovea.dims = ["queries"]},
                   %k: tensor<63x2xf32> {fovea.name = "k"},
                   %v: tensor<63x2xf32> {fovea.name = "v"})
    -> (tensor<?x2xf32> {fovea.name = "output", fovea.dims = ["queries"]}, tensor<?x63xf32> {fovea.name = "weights", fovea.dims = ["queries"]})
    attributes {fovea.entry} {
  %c0 = arith.constant 0 : index
  %queries = tensor.dim %q, %c0 : tensor<?x2xf32>
  %e1 = tensor.empty(%queries) : tensor<?x63xf32>
  %c2 = arith.constant 0.00000000e+00 : f32
  %f3 = linalg.fill ins(%c2 : f32) outs(%e1 : tensor<?x63xf32>) -> tensor<?x63xf32>
  %product4 = linalg.contract indexing_maps = [affine_map<(i, j, d) -> (i, d)>, affine_map<(i, j, d) -> (j, d)>, affine_map<(i, j, d) -> (i, j)>]
      ins(%q, %k : tensor<?x2xf32>, tensor<63x2xf32>) outs(%f3 : tensor<?x63xf32>) -> tensor<?x63xf32>
  %e5 = tensor.empty(%queries) : tensor<?x63xf32>
  %t19 = linalg.generic {indexing_maps = [affine_map<(i, j) -> (i, j)>, affine_map<(i, j) -> (i, j)>], iterator_types = ["parallel", "parallel"]}
      ins(%product4 : tensor<?x63xf32>) outs(%e5 : tensor<?x63xf32>) {
  ^bb0(%in6: f32, %acc7: f32):
    %at8 = linalg.index 1 : index
    %v9 = arith.index_cast %at8 : index to i64
    %at10 = linalg.index 0 : index
    %v11 = arith.index_cast %at10 : index to i64
    %c12 = arith.constant 1 : i64
    %v13 = arith.addi %v11, %c12 : i64
    %v14 = arith.cmpi slt, %v9, %v13 : i64
    %c15 = arith.constant true
    %v16 = arith.xori %v14, %c15 : i1
    %c17 = arith.constant 0xFF800000 : f32
    %v18 = arith.select %v16, %c17, %in6 : f32
    linalg.yield %v18 : f32
  } -> tensor<?x63xf32>
  %e20 = tensor.empty(%queries) : tensor<?x63xf32>
  %p21 = linalg.softmax dimension(1) ins(%t19 : tensor<?x63xf32>) outs(%e20 : tensor<?x63xf32>) -> tensor<?x63xf32>
  %e22 = tensor.empty(%queries) : tensor<?x2xf32>
  %c23 = arith.constant 0.00000000e+00 : f32
  %f24 = linalg.fill ins(%c23 : f32) outs(%e22 : tensor<?x2xf32>) -> tensor<?x2xf32>
  %product25 = linalg.contract indexing_maps = [affine_map<(i, e, j) -> (i, j)>, affine_map<(i, e, j) -> (j, e)>, affine_map<(i, e, j) -> (i, e)>]
      ins(%p21, %v : tensor<?x63xf32>, tensor<63x2xf32>) outs(%f24 : tensor<?x2xf32>) -> tensor<?x2xf32>
  return %product25, %p21 : tensor<?x2xf32>, tensor<?x63xf32>
}
