// RUN: fovea-smith %s

// As sink-without-batch.mlir, with a further column.
//
// choices: heads=3 depth=8 static=1 batch-size=1 queries=5 keys=6 softmax=1 sink=1
// fused: 1
// masks:
// size: keys 6 10
// size: queries 5 10
// input: q normal 1
// input: k normal 1
// input: v normal 1
// input: sink normal 1

func.func @forward(%q: tensor<3x?x8xf32> {fovea.name = "q", fovea.dims = ["queries"]},
                   %k: tensor<3x?x8xf32> {fovea.name = "k", fovea.dims = ["keys"]},
                   %v: tensor<3x?x8xf32> {fovea.name = "v", fovea.dims = ["keys"]},
                   %sink: tensor<3xf32> {fovea.name = "sink"})
    -> (tensor<3x?x8xf32> {fovea.name = "output", fovea.dims = ["queries"]})
    attributes {fovea.entry} {
  %c0 = arith.constant 1 : index
  %queries = tensor.dim %q, %c0 : tensor<3x?x8xf32>
  %c1 = arith.constant 1 : index
  %keys = tensor.dim %k, %c1 : tensor<3x?x8xf32>
  %e2 = tensor.empty(%queries, %keys) : tensor<3x?x?xf32>
  %c3 = arith.constant 0.00000000e+00 : f32
  %f4 = linalg.fill ins(%c3 : f32) outs(%e2 : tensor<3x?x?xf32>) -> tensor<3x?x?xf32>
  %product5 = linalg.contract indexing_maps = [affine_map<(h, i, j, d) -> (h, i, d)>, affine_map<(h, i, j, d) -> (h, j, d)>, affine_map<(h, i, j, d) -> (h, i, j)>]
      ins(%q, %k : tensor<3x?x8xf32>, tensor<3x?x8xf32>) outs(%f4 : tensor<3x?x?xf32>) -> tensor<3x?x?xf32>
  %e6 = tensor.empty(%queries) : tensor<3x?x1xf32>
  %t9 = linalg.generic {indexing_maps = [affine_map<(h, i, u) -> (h)>, affine_map<(h, i, u) -> (h, i, u)>], iterator_types = ["parallel", "parallel", "parallel"]}
      ins(%sink : tensor<3xf32>) outs(%e6 : tensor<3x?x1xf32>) {
  ^bb0(%in7: f32, %acc8: f32):
    linalg.yield %in7 : f32
  } -> tensor<3x?x1xf32>
  %c10 = arith.constant 1 : index
  %size11 = arith.addi %keys, %c10 : index
  %both12 = tensor.concat dim(2) %product5, %t9 : (tensor<3x?x?xf32>, tensor<3x?x1xf32>) -> tensor<3x?x?xf32>
  %e13 = tensor.empty(%size11, %queries) : tensor<3x?x?xf32>
  %t16 = linalg.generic {indexing_maps = [affine_map<(h, J, i) -> (h, i, J)>, affine_map<(h, J, i) -> (h, J, i)>], iterator_types = ["parallel", "parallel", "parallel"]}
      ins(%both12 : tensor<3x?x?xf32>) outs(%e13 : tensor<3x?x?xf32>) {
  ^bb0(%in14: f32, %acc15: f32):
    linalg.yield %in14 : f32
  } -> tensor<3x?x?xf32>
  %e17 = tensor.empty(%queries) : tensor<3x?xf32>
  %c18 = arith.constant 0xFF800000 : f32
  %f19 = linalg.fill ins(%c18 : f32) outs(%e17 : tensor<3x?xf32>) -> tensor<3x?xf32>
  %r20 = linalg.reduce { arith.maximumf } ins(%t16 : tensor<3x?x?xf32>) outs(%f19 : tensor<3x?xf32>) dimensions = [1]
  %e21 = tensor.empty(%queries) : tensor<3x?xf32>
  %c22 = arith.constant 0.00000000e+00 : f32
  %f23 = linalg.fill ins(%c22 : f32) outs(%e21 : tensor<3x?xf32>) -> tensor<3x?xf32>
  %t30 = linalg.generic {indexing_maps = [affine_map<(h, i, J) -> (h, i, J)>, affine_map<(h, i, J) -> (h, i)>, affine_map<(h, i, J) -> (h, i)>], iterator_types = ["parallel", "parallel", "reduction"]}
      ins(%both12, %r20 : tensor<3x?x?xf32>, tensor<3x?xf32>) outs(%f23 : tensor<3x?xf32>) {
  ^bb0(%in24: f32, %in25: f32, %acc26: f32):
    %v27 = arith.subf %in24, %in25 : f32
    %v28 = math.exp %v27 : f32
    %v29 = arith.addf %v28, %acc26 : f32
    linalg.yield %v29 : f32
  } -> tensor<3x?xf32>
  %e31 = tensor.empty(%queries, %size11) : tensor<3x?x?xf32>
  %t39 = linalg.generic {indexing_maps = [affine_map<(h, i, J) -> (h, i, J)>, affine_map<(h, i, J) -> (h, i)>, affine_map<(h, i, J) -> (h, i)>, affine_map<(h, i, J) -> (h, i, J)>], iterator_types = ["parallel", "parallel", "parallel"]}
      ins(%both12, %r20, %t30 : tensor<3x?x?xf32>, tensor<3x?xf32>, tensor<3x?xf32>) outs(%e31 : tensor<3x?x?xf32>) {
  ^bb0(%in32: f32, %in33: f32, %in34: f32, %acc35: f32):
    %v36 = arith.subf %in32, %in33 : f32
    %v37 = math.exp %v36 : f32
    %v38 = arith.divf %v37, %in34 : f32
    linalg.yield %v38 : f32
  } -> tensor<3x?x?xf32>
  %part40 = tensor.extract_slice %t39[0, 0, 0] [3, %queries, %keys] [1, 1, 1] : tensor<3x?x?xf32> to tensor<3x?x?xf32>
  %e41 = tensor.empty(%queries) : tensor<3x?x8xf32>
  %c42 = arith.constant 0.00000000e+00 : f32
  %f43 = linalg.fill ins(%c42 : f32) outs(%e41 : tensor<3x?x8xf32>) -> tensor<3x?x8xf32>
  %product44 = linalg.contract indexing_maps = [affine_map<(h, i, e, j) -> (h, i, j)>, affine_map<(h, i, e, j) -> (h, j, e)>, affine_map<(h, i, e, j) -> (h, i, e)>]
      ins(%part40, %v : tensor<3x?x?xf32>, tensor<3x?x8xf32>) outs(%f43 : tensor<3x?x8xf32>) -> tensor<3x?x8xf32>
  return %product44 : tensor<3x?x8xf32>
}
