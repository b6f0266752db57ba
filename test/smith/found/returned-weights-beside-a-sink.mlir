// RUN: fovea-smith %s

// Weights that others read, a slice of probabilities with a sink in front.
//
// choices: depth=2 static=1 batch-size=1 queries=1 keys=1 sink=1 returns=1 spelling=1
// fused: 1
// masks:
// size: keys 1 6
// size: queries 1 2
// input: q normal 1
// input: k normal 1
// input: v normal 1
// input: sink normal 1

func.func @forward(%q: tensor<?x2xf32> {fovea.name = "q", fovea.dims = ["queries"]},
                   %k: tensor<?x2xf32> {fovea.name = "k", fovea.dims = ["keys"]},
                   %v: tensor<?x2xf32> {fovea.name = "v", fovea.dims = ["keys"]},
                   %sink: tensor<f32> {fovea.name = "sink"})
    -> (tensor<?x2xf32> {fovea.name = "output", fovea.dims = ["queries"]}, tensor<?x?xf32> {fovea.name = "weights", fovea.dims = ["queries", "keys"]})
    attributes {fovea.entry} {
  %c0 = arith.constant 0 : index
  %queries = tensor.dim %q, %c0 : tensor<?x2xf32>
  %c1 = arith.constant 0 : index
  %keys = tensor.dim %k, %c1 : tensor<?x2xf32>
  %e2 = tensor.empty(%queries, %keys) : tensor<?x?xf32>
  %c3 = arith.constant 0.00000000e+00 : f32
  %f4 = linalg.fill ins(%c3 : f32) outs(%e2 : tensor<?x?xf32>) -> tensor<?x?xf32>
  %product5 = linalg.contract indexing_maps = [affine_map<(i, j, d) -> (i, d)>, affine_map<(i, j, d) -> (j, d)>, affine_map<(i, j, d) -> (i, j)>]
      ins(%q, %k : tensor<?x2xf32>, tensor<?x2xf32>) outs(%f4 : tensor<?x?xf32>) -> tensor<?x?xf32>
  %e6 = tensor.empty(%queries) : tensor<?x1xf32>
  %t9 = linalg.generic {indexing_maps = [affine_map<(i, u) -> ()>, affine_map<(i, u) -> (i, u)>], iterator_types = ["parallel", "parallel"]}
      ins(%sink : tensor<f32>) outs(%e6 : tensor<?x1xf32>) {
  ^bb0(%in7: f32, %acc8: f32):
    linalg.yield %in7 : f32
  } -> tensor<?x1xf32>
  %c10 = arith.constant 1 : index
  %size11 = arith.addi %keys, %c10 : index
  %both12 = tensor.concat dim(1) %t9, %product5 : (tensor<?x1xf32>, tensor<?x?xf32>) -> tensor<?x?xf32>
  %e13 = tensor.empty(%queries, %size11) : tensor<?x?xf32>
  %p14 = linalg.softmax dimension(1) ins(%both12 : tensor<?x?xf32>) outs(%e13 : tensor<?x?xf32>) -> tensor<?x?xf32>
  %part15 = tensor.extract_slice %p14[0, 1] [%queries, %keys] [1, 1] : tensor<?x?xf32> to tensor<?x?xf32>
  %e16 = tensor.empty(%queries) : tensor<?x2xf32>
  %c17 = arith.constant 0.00000000e+00 : f32
  %f18 = linalg.fill ins(%c17 : f32) outs(%e16 : tensor<?x2xf32>) -> tensor<?x2xf32>
  %product19 = linalg.contract indexing_maps = [affine_map<(i, e, j) -> (i, j)>, affine_map<(i, e, j) -> (j, e)>, affine_map<(i, e, j) -> (i, e)>]
      ins(%part15, %v : tensor<?x?xf32>, tensor<?x2xf32>) outs(%f18 : tensor<?x2xf32>) -> tensor<?x2xf32>
  return %product19, %part15 : tensor<?x2xf32>, tensor<?x?xf32>
}
