// RUN: fovea-smith %s

// With one query, what is left of its axes is heads if sinks have it.
//
// choices: heads=1 group=2 depth=2 static=3 batch-size=1 queries=1 keys=6 softmax=1 sink=2
// fused: 1
// masks:
// size: keys 6 11
// input: q normal 1
// input: k normal 1
// input: v normal 1
// input: sink normal 1

func.func @forward(%q: tensor<1x2x1x2xf32> {fovea.name = "q"},
                   %k: tensor<1x?x2xf32> {fovea.name = "k", fovea.dims = ["keys"]},
                   %v: tensor<1x?x2xf32> {fovea.name = "v", fovea.dims = ["keys"]},
                   %sink: tensor<1x2xf32> {fovea.name = "sink"})
    -> (tensor<1x2x1x2xf32> {fovea.name = "output"})
    attributes {fovea.entry} {
  %c0 = arith.constant 1 : index
  %keys = tensor.dim %k, %c0 : tensor<1x?x2xf32>
  %e1 = tensor.empty(%keys) : tensor<1x2x1x?xf32>
  %c2 = arith.constant 0.00000000e+00 : f32
  %f3 = linalg.fill ins(%c2 : f32) outs(%e1 : tensor<1x2x1x?xf32>) -> tensor<1x2x1x?xf32>
  %product4 = linalg.contract indexing_maps = [affine_map<(k, g, i, j, d) -> (k, g, i, d)>, affine_map<(k, g, i, j, d) -> (k, j, d)>, affine_map<(k, g, i, j, d) -> (k, g, i, j)>]
      ins(%q, %k : tensor<1x2x1x2xf32>, tensor<1x?x2xf32>) outs(%f3 : tensor<1x2x1x?xf32>) -> tensor<1x2x1x?xf32>
  %e5 = tensor.empty() : tensor<1x2x1xf32>
  %c6 = arith.constant 0xFF800000 : f32
  %f7 = linalg.fill ins(%c6 : f32) outs(%e5 : tensor<1x2x1xf32>) -> tensor<1x2x1xf32>
  %t11 = linalg.generic {indexing_maps = [affine_map<(k, g, i, j) -> (k, g, i, j)>, affine_map<(k, g, i, j) -> (k, g, i)>], iterator_types = ["parallel", "parallel", "parallel", "reduction"]}
      ins(%product4 : tensor<1x2x1x?xf32>) outs(%f7 : tensor<1x2x1xf32>) {
  ^bb0(%in8: f32, %acc9: f32):
    %v10 = arith.maxnumf %acc9, %in8 : f32
    linalg.yield %v10 : f32
  } -> tensor<1x2x1xf32>
  %e12 = tensor.empty() : tensor<1x2x1xf32>
  %c13 = arith.constant 0.00000000e+00 : f32
  %f14 = linalg.fill ins(%c13 : f32) outs(%e12 : tensor<1x2x1xf32>) -> tensor<1x2x1xf32>
  %t21 = linalg.generic {indexing_maps = [affine_map<(k, g, i, j) -> (k, g, i, j)>, affine_map<(k, g, i, j) -> (k, g, i)>, affine_map<(k, g, i, j) -> (k, g, i)>], iterator_types = ["parallel", "parallel", "parallel", "reduction"]}
      ins(%product4, %t11 : tensor<1x2x1x?xf32>, tensor<1x2x1xf32>) outs(%f14 : tensor<1x2x1xf32>) {
  ^bb0(%in15: f32, %in16: f32, %acc17: f32):
    %v18 = arith.subf %in15, %in16 : f32
    %v19 = math.exp %v18 : f32
    %v20 = arith.addf %v19, %acc17 : f32
    linalg.yield %v20 : f32
  } -> tensor<1x2x1xf32>
  %e22 = tensor.empty(%keys) : tensor<1x2x1x?xf32>
  %t34 = linalg.generic {indexing_maps = [affine_map<(k, g, i, j) -> (k, g, i, j)>, affine_map<(k, g, i, j) -> (k, g, i)>, affine_map<(k, g, i, j) -> (k, g, i)>, affine_map<(k, g, i, j) -> (k, g)>, affine_map<(k, g, i, j) -> (k, g, i, j)>], iterator_types = ["parallel", "parallel", "parallel", "parallel"]}
      ins(%product4, %t11, %t21, %sink : tensor<1x2x1x?xf32>, tensor<1x2x1xf32>, tensor<1x2x1xf32>, tensor<1x2xf32>) outs(%e22 : tensor<1x2x1x?xf32>) {
  ^bb0(%in23: f32, %in24: f32, %in25: f32, %in26: f32, %acc27: f32):
    %v28 = arith.subf %in23, %in24 : f32
    %v29 = math.exp %v28 : f32
    %v30 = arith.subf %in26, %in24 : f32
    %v31 = math.exp %v30 : f32
    %v32 = arith.addf %in25, %v31 : f32
    %v33 = arith.divf %v29, %v32 : f32
    linalg.yield %v33 : f32
  } -> tensor<1x2x1x?xf32>
  %e35 = tensor.empty() : tensor<1x2x1x2xf32>
  %c36 = arith.constant 0.00000000e+00 : f32
  %f37 = linalg.fill ins(%c36 : f32) outs(%e35 : tensor<1x2x1x2xf32>) -> tensor<1x2x1x2xf32>
  %product38 = linalg.contract indexing_maps = [affine_map<(k, g, i, e, j) -> (k, g, i, j)>, affine_map<(k, g, i, e, j) -> (k, j, e)>, affine_map<(k, g, i, e, j) -> (k, g, i, e)>]
      ins(%t34, %v : tensor<1x2x1x?xf32>, tensor<1x?x2xf32>) outs(%f37 : tensor<1x2x1x2xf32>) -> tensor<1x2x1x2xf32>
  return %product38 : tensor<1x2x1x2xf32>
}
