// RUN: fovea-smith %s

// The sink is multiplied by a logarithm of two with eleven bits.
//
// choices: type=1 depth=2 static=1 batch-size=1 queries=5 keys=6 softmax=2 sink=2
// fused: 1
// masks:
// size: keys 6 10
// size: queries 5 10
// input: q normal 1
// input: k normal 1
// input: v normal 1
// input: sink normal 1

func.func @forward(%q: tensor<?x2xf16> {fovea.name = "q", fovea.dims = ["queries"]},
                   %k: tensor<?x2xf16> {fovea.name = "k", fovea.dims = ["keys"]},
                   %v: tensor<?x2xf16> {fovea.name = "v", fovea.dims = ["keys"]},
                   %sink: tensor<f16> {fovea.name = "sink"})
    -> (tensor<?x2xf16> {fovea.name = "output", fovea.dims = ["queries"]})
    attributes {fovea.entry} {
  %c0 = arith.constant 0 : index
  %queries = tensor.dim %q, %c0 : tensor<?x2xf16>
  %c1 = arith.constant 0 : index
  %keys = tensor.dim %k, %c1 : tensor<?x2xf16>
  %e2 = tensor.empty(%queries, %keys) : tensor<?x?xf16>
  %c3 = arith.constant 0.00000000e+00 : f16
  %f4 = linalg.fill ins(%c3 : f16) outs(%e2 : tensor<?x?xf16>) -> tensor<?x?xf16>
  %product5 = linalg.contract indexing_maps = [affine_map<(i, j, d) -> (i, d)>, affine_map<(i, j, d) -> (j, d)>, affine_map<(i, j, d) -> (i, j)>]
      ins(%q, %k : tensor<?x2xf16>, tensor<?x2xf16>) outs(%f4 : tensor<?x?xf16>) -> tensor<?x?xf16>
  %e6 = tensor.empty(%queries) : tensor<?xf16>
  %c7 = arith.constant 0xFC00 : f16
  %f8 = linalg.fill ins(%c7 : f16) outs(%e6 : tensor<?xf16>) -> tensor<?xf16>
  %t12 = linalg.generic {indexing_maps = [affine_map<(i, j) -> (i, j)>, affine_map<(i, j) -> (i)>], iterator_types = ["parallel", "reduction"]}
      ins(%product5 : tensor<?x?xf16>) outs(%f8 : tensor<?xf16>) {
  ^bb0(%in9: f16, %acc10: f16):
    %v11 = arith.maximumf %acc10, %in9 : f16
    linalg.yield %v11 : f16
  } -> tensor<?xf16>
  %e13 = tensor.empty(%queries, %keys) : tensor<?x?xf16>
  %t21 = linalg.generic {indexing_maps = [affine_map<(i, j) -> (i, j)>, affine_map<(i, j) -> (i)>, affine_map<(i, j) -> (i, j)>], iterator_types = ["parallel", "parallel"]}
      ins(%product5, %t12 : tensor<?x?xf16>, tensor<?xf16>) outs(%e13 : tensor<?x?xf16>) {
  ^bb0(%in14: f16, %in15: f16, %acc16: f16):
    %v17 = arith.subf %in14, %in15 : f16
    %c18 = arith.constant 1.44269504e+00 : f16
    %v19 = arith.mulf %v17, %c18 : f16
    %v20 = math.exp2 %v19 : f16
    linalg.yield %v20 : f16
  } -> tensor<?x?xf16>
  %e22 = tensor.empty(%queries) : tensor<?xf16>
  %c23 = arith.constant 0.00000000e+00 : f16
  %f24 = linalg.fill ins(%c23 : f16) outs(%e22 : tensor<?xf16>) -> tensor<?xf16>
  %t28 = linalg.generic {indexing_maps = [affine_map<(j, i) -> (i, j)>, affine_map<(j, i) -> (i)>], iterator_types = ["reduction", "parallel"]}
      ins(%t21 : tensor<?x?xf16>) outs(%f24 : tensor<?xf16>) {
  ^bb0(%in25: f16, %acc26: f16):
    %v27 = arith.addf %in25, %acc26 : f16
    linalg.yield %v27 : f16
  } -> tensor<?xf16>
  %e29 = tensor.empty(%queries, %keys) : tensor<?x?xf16>
  %t41 = linalg.generic {indexing_maps = [affine_map<(i, j) -> (i, j)>, affine_map<(i, j) -> (i)>, affine_map<(i, j) -> ()>, affine_map<(i, j) -> (i)>, affine_map<(i, j) -> (i, j)>], iterator_types = ["parallel", "parallel"]}
      ins(%t21, %t28, %sink, %t12 : tensor<?x?xf16>, tensor<?xf16>, tensor<f16>, tensor<?xf16>) outs(%e29 : tensor<?x?xf16>) {
  ^bb0(%in30: f16, %in31: f16, %in32: f16, %in33: f16, %acc34: f16):
    %v35 = arith.subf %in32, %in33 : f16
    %c36 = arith.constant 1.44269504e+00 : f16
    %v37 = arith.mulf %v35, %c36 : f16
    %v38 = math.exp2 %v37 : f16
    %v39 = arith.addf %in31, %v38 : f16
    %v40 = arith.divf %in30, %v39 : f16
    linalg.yield %v40 : f16
  } -> tensor<?x?xf16>
  %e42 = tensor.empty(%queries) : tensor<?x2xf16>
  %c43 = arith.constant 0.00000000e+00 : f16
  %f44 = linalg.fill ins(%c43 : f16) outs(%e42 : tensor<?x2xf16>) -> tensor<?x2xf16>
  %product45 = linalg.contract indexing_maps = [affine_map<(i, e, j) -> (i, j)>, affine_map<(i, e, j) -> (j, e)>, affine_map<(i, e, j) -> (i, e)>]
      ins(%t41, %v : tensor<?x?xf16>, tensor<?x2xf16>) outs(%f44 : tensor<?x2xf16>) -> tensor<?x2xf16>
  return %product45 : tensor<?x2xf16>
}
