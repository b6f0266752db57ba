// RUN: fovea-smith %s

// What all keys share matters beside a sink.
//
// choices: heads=1 depth=2 static=1 batch-size=1 queries=5 keys=6 rule2=1 softmax=1 sink=2
// fused: 1
// masks:
// size: keys 6 10
// size: queries 5 10
// input: q normal 1
// input: k normal 1
// input: v normal 1
// input: bias2 normal 1
// input: sink normal 1

func.func @forward(%q: tensor<1x?x2xf32> {fovea.name = "q", fovea.dims = ["queries"]},
                   %k: tensor<1x?x2xf32> {fovea.name = "k", fovea.dims = ["keys"]},
                   %v: tensor<1x?x2xf32> {fovea.name = "v", fovea.dims = ["keys"]},
                   %bias2: tensor<1x?xf32> {fovea.name = "bias2", fovea.dims = ["queries"]},
                   %sink: tensor<1xf32> {fovea.name = "sink"})
    -> (tensor<1x?x2xf32> {fovea.name = "output", fovea.dims = ["queries"]})
    attributes {fovea.entry} {
  %c0 = arith.constant 1 : index
  %queries = tensor.dim %q, %c0 : tensor<1x?x2xf32>
  %c1 = arith.constant 1 : index
  %keys = tensor.dim %k, %c1 : tensor<1x?x2xf32>
  %e2 = tensor.empty(%queries, %keys) : tensor<1x?x?xf32>
  %c3 = arith.constant 0.00000000e+00 : f32
  %f4 = linalg.fill ins(%c3 : f32) outs(%e2 : tensor<1x?x?xf32>) -> tensor<1x?x?xf32>
  %product5 = linalg.contract indexing_maps = [affine_map<(h, i, j, d) -> (h, i, d)>, affine_map<(h, i, j, d) -> (h, j, d)>, affine_map<(h, i, j, d) -> (h, i, j)>]
      ins(%q, %k : tensor<1x?x2xf32>, tensor<1x?x2xf32>) outs(%f4 : tensor<1x?x?xf32>) -> tensor<1x?x?xf32>
  %e6 = tensor.empty(%queries, %keys) : tensor<1x?x?xf32>
  %t11 = linalg.generic {indexing_maps = [affine_map<(h, i, j) -> (h, i, j)>, affine_map<(h, i, j) -> (h, i)>, affine_map<(h, i, j) -> (h, i, j)>], iterator_types = ["parallel", "parallel", "parallel"]}
      ins(%product5, %bias2 : tensor<1x?x?xf32>, tensor<1x?xf32>) outs(%e6 : tensor<1x?x?xf32>) {
  ^bb0(%in7: f32, %in8: f32, %acc9: f32):
    %v10 = arith.addf %in7, %in8 : f32
    linalg.yield %v10 : f32
  } -> tensor<1x?x?xf32>
  %e12 = tensor.empty(%keys, %queries) : tensor<1x?x?xf32>
  %t15 = linalg.generic {indexing_maps = [affine_map<(h, j, i) -> (h, i, j)>, affine_map<(h, j, i) -> (h, j, i)>], iterator_types = ["parallel", "parallel", "parallel"]}
      ins(%t11 : tensor<1x?x?xf32>) outs(%e12 : tensor<1x?x?xf32>) {
  ^bb0(%in13: f32, %acc14: f32):
    linalg.yield %in13 : f32
  } -> tensor<1x?x?xf32>
  %e16 = tensor.empty(%queries) : tensor<1x?xf32>
  %c17 = arith.constant 0xFF800000 : f32
  %f18 = linalg.fill ins(%c17 : f32) outs(%e16 : tensor<1x?xf32>) -> tensor<1x?xf32>
  %r19 = linalg.reduce { arith.maxnumf } ins(%t15 : tensor<1x?x?xf32>) outs(%f18 : tensor<1x?xf32>) dimensions = [1]
  %e20 = tensor.empty(%queries) : tensor<1x?xf32>
  %c21 = arith.constant 0.00000000e+00 : f32
  %f22 = linalg.fill ins(%c21 : f32) outs(%e20 : tensor<1x?xf32>) -> tensor<1x?xf32>
  %t29 = linalg.generic {indexing_maps = [affine_map<(h, i, j) -> (h, i, j)>, affine_map<(h, i, j) -> (h, i)>, affine_map<(h, i, j) -> (h, i)>], iterator_types = ["parallel", "parallel", "reduction"]}
      ins(%t11, %r19 : tensor<1x?x?xf32>, tensor<1x?xf32>) outs(%f22 : tensor<1x?xf32>) {
  ^bb0(%in23: f32, %in24: f32, %acc25: f32):
    %v26 = arith.subf %in23, %in24 : f32
    %v27 = math.exp %v26 : f32
    %v28 = arith.addf %v27, %acc25 : f32
    linalg.yield %v28 : f32
  } -> tensor<1x?xf32>
  %e30 = tensor.empty(%queries, %keys) : tensor<1x?x?xf32>
  %t42 = linalg.generic {indexing_maps = [affine_map<(h, i, j) -> (h, i, j)>, affine_map<(h, i, j) -> (h, i)>, affine_map<(h, i, j) -> (h, i)>, affine_map<(h, i, j) -> (h)>, affine_map<(h, i, j) -> (h, i, j)>], iterator_types = ["parallel", "parallel", "parallel"]}
      ins(%t11, %r19, %t29, %sink : tensor<1x?x?xf32>, tensor<1x?xf32>, tensor<1x?xf32>, tensor<1xf32>) outs(%e30 : tensor<1x?x?xf32>) {
  ^bb0(%in31: f32, %in32: f32, %in33: f32, %in34: f32, %acc35: f32):
    %v36 = arith.subf %in31, %in32 : f32
    %v37 = math.exp %v36 : f32
    %v38 = arith.subf %in34, %in32 : f32
    %v39 = math.exp %v38 : f32
    %v40 = arith.addf %in33, %v39 : f32
    %v41 = arith.divf %v37, %v40 : f32
    linalg.yield %v41 : f32
  } -> tensor<1x?x?xf32>
  %e43 = tensor.empty(%queries) : tensor<1x?x2xf32>
  %c44 = arith.constant 0.00000000e+00 : f32
  %f45 = linalg.fill ins(%c44 : f32) outs(%e43 : tensor<1x?x2xf32>) -> tensor<1x?x2xf32>
  %product46 = linalg.contract indexing_maps = [affine_map<(h, i, e, j) -> (h, i, j)>, affine_map<(h, i, e, j) -> (h, j, e)>, affine_map<(h, i, e, j) -> (h, i, e)>]
      ins(%t42, %v : tensor<1x?x?xf32>, tensor<1x?x2xf32>) outs(%f45 : tensor<1x?x2xf32>) -> tensor<1x?x2xf32>
  return %product46 : tensor<1x?x2xf32>
}
