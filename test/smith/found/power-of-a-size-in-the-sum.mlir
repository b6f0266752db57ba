// RUN: fovea-smith %s

// What the sum is divided by grows with a power of the number of queries, which is one up to rounding for few; no large number of keys was compared, since the mask's logarithm was no number.
//
// choices: depth=1 static=1 batch-size=1 queries=1 keys=1 mask0=1 apply=9 softmax=1
// near-miss: sum power size 300
// fused: -1
// masks:
// size: keys 1 2
// size: queries 1 302
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
  %e6 = tensor.empty(%queries) : tensor<?xf32>
  %c7 = arith.constant 0xFF800000 : f32
  %f8 = linalg.fill ins(%c7 : f32) outs(%e6 : tensor<?xf32>) -> tensor<?xf32>
  %t12 = linalg.generic {indexing_maps = [affine_map<(i, j) -> (i, j)>, affine_map<(i, j) -> (i)>], iterator_types = ["parallel", "reduction"]}
      ins(%product5 : tensor<?x?xf32>) outs(%f8 : tensor<?xf32>) {
  ^bb0(%in9: f32, %acc10: f32):
    %v11 = arith.maxnumf %acc10, %in9 : f32
    linalg.yield %v11 : f32
  } -> tensor<?xf32>
  %e13 = tensor.empty(%queries) : tensor<?xf32>
  %c14 = arith.constant 0.00000000e+00 : f32
  %f15 = linalg.fill ins(%c14 : f32) outs(%e13 : tensor<?xf32>) -> tensor<?xf32>
  %t31 = linalg.generic {indexing_maps = [affine_map<(i, j) -> (i, j)>, affine_map<(i, j) -> (i)>, affine_map<(i, j) -> (i)>], iterator_types = ["parallel", "reduction"]}
      ins(%product5, %t12 : tensor<?x?xf32>, tensor<?xf32>) outs(%f15 : tensor<?xf32>) {
  ^bb0(%in16: f32, %in17: f32, %acc18: f32):
    %v19 = arith.subf %in16, %in17 : f32
    %v20 = math.exp %v19 : f32
    %at21 = linalg.index 1 : index
    %v22 = arith.index_cast %at21 : index to i64
    %at23 = linalg.index 0 : index
    %v24 = arith.index_cast %at23 : index to i64
    %c25 = arith.constant 1 : i64
    %v26 = arith.addi %v24, %c25 : i64
    %v27 = arith.cmpi slt, %v22, %v26 : i64
    %v28 = arith.uitofp %v27 : i1 to f32
    %v29 = arith.mulf %v20, %v28 : f32
    %v30 = arith.addf %acc18, %v29 : f32
    linalg.yield %v30 : f32
  } -> tensor<?xf32>
  %e32 = tensor.empty(%queries, %keys) : tensor<?x?xf32>
  %t58 = linalg.generic {indexing_maps = [affine_map<(i, j) -> (i, j)>, affine_map<(i, j) -> (i)>, affine_map<(i, j) -> (i)>, affine_map<(i, j) -> (i, j)>], iterator_types = ["parallel", "parallel"]}
      ins(%product5, %t12, %t31 : tensor<?x?xf32>, tensor<?xf32>, tensor<?xf32>) outs(%e32 : tensor<?x?xf32>) {
  ^bb0(%in33: f32, %in34: f32, %in35: f32, %acc36: f32):
    %v37 = arith.subf %in33, %in34 : f32
    %v38 = math.exp %v37 : f32
    %at39 = linalg.index 1 : index
    %v40 = arith.index_cast %at39 : index to i64
    %at41 = linalg.index 0 : index
    %v42 = arith.index_cast %at41 : index to i64
    %c43 = arith.constant 1 : i64
    %v44 = arith.addi %v42, %c43 : i64
    %v45 = arith.cmpi slt, %v40, %v44 : i64
    %v46 = arith.uitofp %v45 : i1 to f32
    %v47 = arith.mulf %v38, %v46 : f32
    %c48 = arith.constant 1.00000000e+00 : f32
    %v49 = arith.index_cast %queries : index to i64
    %v50 = arith.sitofp %v49 : i64 to f32
    %c51 = arith.constant 2.70000000e+02 : f32
    %v52 = arith.divf %v50, %c51 : f32
    %c53 = arith.constant 8.00000000e+00 : f32
    %v54 = math.powf %v52, %c53 : f32
    %v55 = arith.addf %c48, %v54 : f32
    %v56 = arith.mulf %in35, %v55 : f32
    %v57 = arith.divf %v47, %v56 : f32
    linalg.yield %v57 : f32
  } -> tensor<?x?xf32>
  %e59 = tensor.empty(%queries) : tensor<?x1xf32>
  %c60 = arith.constant 0.00000000e+00 : f32
  %f61 = linalg.fill ins(%c60 : f32) outs(%e59 : tensor<?x1xf32>) -> tensor<?x1xf32>
  %product62 = linalg.contract indexing_maps = [affine_map<(i, e, j) -> (i, j)>, affine_map<(i, e, j) -> (j, e)>, affine_map<(i, e, j) -> (i, e)>]
      ins(%t58, %v : tensor<?x?xf32>, tensor<?x1xf32>) outs(%f61 : tensor<?x1xf32>) -> tensor<?x1xf32>
  return %product62 : tensor<?x1xf32>
}
