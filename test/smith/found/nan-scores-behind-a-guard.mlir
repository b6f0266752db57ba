// RUN: fovea-smith %s

// Masked scores are NaN by minus infinity times zero, which the guard behind the softmax makes zeros of.
//
// choices: depth=1 static=1 batch-size=1 queries=1 keys=1 mask0=1 guard=1
// near-miss: score clamp place 130
// fused: -1
// masks:
// size: keys 1 134
// size: queries 1 2
// input: q normal 1.44914
// input: k normal 1.44914
// input: v normal 1

func.func @forward(%q: tensor<?x1xf32> {fovea.name = "q", fovea.dims = ["queries"]},
                   %k: tensor<?x1xf32> {fovea.name = "k", fovea.dims = ["keys"]},
                   %v: tensor<?x1xf32> {fovea.name = "v", fovea.dims = ["keys"]})
    -> (tensor<?x1xf32> {fovea.name = "output", fovea.dims = ["queries"]})
    attributes {fovea.entry} {
  %c0 = arith.constant 0 : index
  %queries = tensor.dim %q, %c0 : tensor<?x1xf32>
  %c1 = arith.constant 0 : index
  %keys = tensor.dim %k, %c1 : tensor<?x1xf32>
  %e2 = tensor.empty(%queries, %keys) : tensor<?x?xf32>
  %c3 = arith.constant 0.00000000e+00 : f32
  %f4 = linalg.fill ins(%c3 : f32) outs(%e2 : tensor<?x?xf32>) -> tensor<?x?xf32>
  %product5 = linalg.contract indexing_maps = [affine_map<(i, j, d) -> (i, d)>, affine_map<(i, j, d) -> (j, d)>, affine_map<(i, j, d) -> (i, j)>]
      ins(%q, %k : tensor<?x1xf32>, tensor<?x1xf32>) outs(%f4 : tensor<?x?xf32>) -> tensor<?x?xf32>
  %e6 = tensor.empty(%queries, %keys) : tensor<?x?xf32>
  %t33 = linalg.generic {indexing_maps = [affine_map<(i, j) -> (i, j)>, affine_map<(i, j) -> (i, j)>], iterator_types = ["parallel", "parallel"]}
      ins(%product5 : tensor<?x?xf32>) outs(%e6 : tensor<?x?xf32>) {
  ^bb0(%in7: f32, %acc8: f32):
    %at9 = linalg.index 1 : index
    %v10 = arith.index_cast %at9 : index to i64
    %at11 = linalg.index 0 : index
    %v12 = arith.index_cast %at11 : index to i64
    %c13 = arith.constant 1 : i64
    %v14 = arith.addi %v12, %c13 : i64
    %v15 = arith.cmpi slt, %v10, %v14 : i64
    %c16 = arith.constant true
    %v17 = arith.xori %v15, %c16 : i1
    %c18 = arith.constant 0xFF800000 : f32
    %v19 = arith.select %v17, %c18, %in7 : f32
    %at20 = linalg.index 1 : index
    %c21 = arith.constant 130 : index
    %v22 = arith.divsi %at20, %c21 : index
    %c23 = arith.constant 0 : index
    %v24 = arith.cmpi sgt, %v22, %c23 : index
    %v25 = arith.uitofp %v24 : i1 to f32
    %c26 = arith.constant 4.00000000e-01 : f32
    %v27 = arith.minimumf %v19, %c26 : f32
    %c28 = arith.constant -3.00000000e-01 : f32
    %v29 = arith.maximumf %v27, %c28 : f32
    %v30 = arith.subf %v29, %v19 : f32
    %v31 = arith.mulf %v25, %v30 : f32
    %v32 = arith.addf %v19, %v31 : f32
    linalg.yield %v32 : f32
  } -> tensor<?x?xf32>
  %e34 = tensor.empty(%queries, %keys) : tensor<?x?xf32>
  %p35 = linalg.softmax dimension(1) ins(%t33 : tensor<?x?xf32>) outs(%e34 : tensor<?x?xf32>) -> tensor<?x?xf32>
  %e36 = tensor.empty(%queries, %keys) : tensor<?x?xf32>
  %t42 = linalg.generic {indexing_maps = [affine_map<(i, j) -> (i, j)>, affine_map<(i, j) -> (i, j)>], iterator_types = ["parallel", "parallel"]}
      ins(%p35 : tensor<?x?xf32>) outs(%e36 : tensor<?x?xf32>) {
  ^bb0(%in37: f32, %acc38: f32):
    %v39 = arith.cmpf une, %in37, %in37 : f32
    %c40 = arith.constant 0.00000000e+00 : f32
    %v41 = arith.select %v39, %c40, %in37 : f32
    linalg.yield %v41 : f32
  } -> tensor<?x?xf32>
  %e43 = tensor.empty(%queries) : tensor<?x1xf32>
  %c44 = arith.constant 0.00000000e+00 : f32
  %f45 = linalg.fill ins(%c44 : f32) outs(%e43 : tensor<?x1xf32>) -> tensor<?x1xf32>
  %product46 = linalg.contract indexing_maps = [affine_map<(i, e, j) -> (i, j)>, affine_map<(i, e, j) -> (j, e)>, affine_map<(i, e, j) -> (i, e)>]
      ins(%t42, %v : tensor<?x?xf32>, tensor<?x1xf32>) outs(%f45 : tensor<?x1xf32>) -> tensor<?x1xf32>
  return %product46 : tensor<?x1xf32>
}
