// RUN: fovea-smith %s

// The only axis beside the sequence was taken for the batch, which sinks cannot depend on.
//
// choices: heads=3 depth=8 static=1 batch-size=1 queries=5 keys=6 softmax=1 sink=2
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
  %e6 = tensor.empty(%queries) : tensor<3x?xf32>
  %c7 = arith.constant 0xFF800000 : f32
  %f8 = linalg.fill ins(%c7 : f32) outs(%e6 : tensor<3x?xf32>) -> tensor<3x?xf32>
  %t12 = linalg.generic {indexing_maps = [affine_map<(h, i, j) -> (h, i, j)>, affine_map<(h, i, j) -> (h, i)>], iterator_types = ["parallel", "parallel", "reduction"]}
      ins(%product5 : tensor<3x?x?xf32>) outs(%f8 : tensor<3x?xf32>) {
  ^bb0(%in9: f32, %acc10: f32):
    %v11 = arith.maxnumf %acc10, %in9 : f32
    linalg.yield %v11 : f32
  } -> tensor<3x?xf32>
  %e13 = tensor.empty(%queries) : tensor<3x?xf32>
  %c14 = arith.constant 0.00000000e+00 : f32
  %f15 = linalg.fill ins(%c14 : f32) outs(%e13 : tensor<3x?xf32>) -> tensor<3x?xf32>
  %t22 = linalg.generic {indexing_maps = [affine_map<(h, i, j) -> (h, i, j)>, affine_map<(h, i, j) -> (h, i)>, affine_map<(h, i, j) -> (h, i)>], iterator_types = ["parallel", "parallel", "reduction"]}
      ins(%product5, %t12 : tensor<3x?x?xf32>, tensor<3x?xf32>) outs(%f15 : tensor<3x?xf32>) {
  ^bb0(%in16: f32, %in17: f32, %acc18: f32):
    %v19 = arith.subf %in16, %in17 : f32
    %v20 = math.exp %v19 : f32
    %v21 = arith.addf %v20, %acc18 : f32
    linalg.yield %v21 : f32
  } -> tensor<3x?xf32>
  %e23 = tensor.empty(%queries, %keys) : tensor<3x?x?xf32>
  %t35 = linalg.generic {indexing_maps = [affine_map<(h, i, j) -> (h, i, j)>, affine_map<(h, i, j) -> (h, i)>, affine_map<(h, i, j) -> (h, i)>, affine_map<(h, i, j) -> (h)>, affine_map<(h, i, j) -> (h, i, j)>], iterator_types = ["parallel", "parallel", "parallel"]}
      ins(%product5, %t12, %t22, %sink : tensor<3x?x?xf32>, tensor<3x?xf32>, tensor<3x?xf32>, tensor<3xf32>) outs(%e23 : tensor<3x?x?xf32>) {
  ^bb0(%in24: f32, %in25: f32, %in26: f32, %in27: f32, %acc28: f32):
    %v29 = arith.subf %in24, %in25 : f32
    %v30 = math.exp %v29 : f32
    %v31 = arith.subf %in27, %in25 : f32
    %v32 = math.exp %v31 : f32
    %v33 = arith.addf %in26, %v32 : f32
    %v34 = arith.divf %v30, %v33 : f32
    linalg.yield %v34 : f32
  } -> tensor<3x?x?xf32>
  %e36 = tensor.empty(%queries) : tensor<3x?x8xf32>
  %c37 = arith.constant 0.00000000e+00 : f32
  %f38 = linalg.fill ins(%c37 : f32) outs(%e36 : tensor<3x?x8xf32>) -> tensor<3x?x8xf32>
  %product39 = linalg.contract indexing_maps = [affine_map<(h, i, e, j) -> (h, i, j)>, affine_map<(h, i, e, j) -> (h, j, e)>, affine_map<(h, i, e, j) -> (h, i, e)>]
      ins(%t35, %v : tensor<3x?x?xf32>, tensor<3x?x8xf32>) outs(%f38 : tensor<3x?x8xf32>) -> tensor<3x?x8xf32>
  return %product39 : tensor<3x?x8xf32>
}
