// RUN: fovea-smith %s

// What is added to exponentials is nothing for the first rows; no row behind them was compared.
//
// choices: depth=1 static=1 batch-size=1 queries=1 keys=1 mask0=1 apply=10 softmax=1 shift=1
// near-miss: exponential power place 33
// fused: -1
// masks:
// size: keys 1 3
// size: queries 1 37
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
  %c7 = arith.constant 0.00000000e+00 : f32
  %f8 = linalg.fill ins(%c7 : f32) outs(%e6 : tensor<?xf32>) -> tensor<?xf32>
  %t27 = linalg.generic {indexing_maps = [affine_map<(i, j) -> (i, j)>, affine_map<(i, j) -> (i)>], iterator_types = ["parallel", "reduction"]}
      ins(%product5 : tensor<?x?xf32>) outs(%f8 : tensor<?xf32>) {
  ^bb0(%in9: f32, %acc10: f32):
    %v11 = math.exp %in9 : f32
    %c12 = arith.constant 1.00000000e+00 : f32
    %at13 = linalg.index 0 : index
    %v14 = arith.index_cast %at13 : index to i64
    %v15 = arith.sitofp %v14 : i64 to f32
    %c16 = arith.constant 2.97000000e+01 : f32
    %v17 = arith.divf %v15, %c16 : f32
    %c18 = arith.constant 8.00000000e+00 : f32
    %v19 = math.powf %v17, %c18 : f32
    %v20 = arith.addf %c12, %v19 : f32
    %c21 = arith.constant 1.00000000e+00 : f32
    %v22 = arith.subf %v20, %c21 : f32
    %c23 = arith.constant 1.00000000e+00 : f32
    %v24 = arith.mulf %v22, %c23 : f32
    %v25 = arith.addf %v11, %v24 : f32
    %v26 = arith.addf %v25, %acc10 : f32
    linalg.yield %v26 : f32
  } -> tensor<?xf32>
  %e28 = tensor.empty(%queries) : tensor<?xf32>
  %c29 = arith.constant 0.00000000e+00 : f32
  %f30 = linalg.fill ins(%c29 : f32) outs(%e28 : tensor<?xf32>) -> tensor<?xf32>
  %t60 = linalg.generic {indexing_maps = [affine_map<(i, j) -> (i, j)>, affine_map<(i, j) -> (i)>, affine_map<(i, j) -> (i)>], iterator_types = ["parallel", "reduction"]}
      ins(%product5, %t27 : tensor<?x?xf32>, tensor<?xf32>) outs(%f30 : tensor<?xf32>) {
  ^bb0(%in31: f32, %in32: f32, %acc33: f32):
    %v34 = math.exp %in31 : f32
    %c35 = arith.constant 1.00000000e+00 : f32
    %at36 = linalg.index 0 : index
    %v37 = arith.index_cast %at36 : index to i64
    %v38 = arith.sitofp %v37 : i64 to f32
    %c39 = arith.constant 2.97000000e+01 : f32
    %v40 = arith.divf %v38, %c39 : f32
    %c41 = arith.constant 8.00000000e+00 : f32
    %v42 = math.powf %v40, %c41 : f32
    %v43 = arith.addf %c35, %v42 : f32
    %c44 = arith.constant 1.00000000e+00 : f32
    %v45 = arith.subf %v43, %c44 : f32
    %c46 = arith.constant 1.00000000e+00 : f32
    %v47 = arith.mulf %v45, %c46 : f32
    %v48 = arith.addf %v34, %v47 : f32
    %v49 = arith.divf %v48, %in32 : f32
    %at50 = linalg.index 1 : index
    %v51 = arith.index_cast %at50 : index to i64
    %at52 = linalg.index 0 : index
    %v53 = arith.index_cast %at52 : index to i64
    %c54 = arith.constant 1 : i64
    %v55 = arith.addi %v53, %c54 : i64
    %v56 = arith.cmpi slt, %v51, %v55 : i64
    %v57 = arith.uitofp %v56 : i1 to f32
    %v58 = arith.mulf %v49, %v57 : f32
    %v59 = arith.addf %v58, %acc33 : f32
    linalg.yield %v59 : f32
  } -> tensor<?xf32>
  %e61 = tensor.empty(%queries, %keys) : tensor<?x?xf32>
  %t92 = linalg.generic {indexing_maps = [affine_map<(i, j) -> (i, j)>, affine_map<(i, j) -> (i)>, affine_map<(i, j) -> (i)>, affine_map<(i, j) -> (i, j)>], iterator_types = ["parallel", "parallel"]}
      ins(%product5, %t27, %t60 : tensor<?x?xf32>, tensor<?xf32>, tensor<?xf32>) outs(%e61 : tensor<?x?xf32>) {
  ^bb0(%in62: f32, %in63: f32, %in64: f32, %acc65: f32):
    %v66 = math.exp %in62 : f32
    %c67 = arith.constant 1.00000000e+00 : f32
    %at68 = linalg.index 0 : index
    %v69 = arith.index_cast %at68 : index to i64
    %v70 = arith.sitofp %v69 : i64 to f32
    %c71 = arith.constant 2.97000000e+01 : f32
    %v72 = arith.divf %v70, %c71 : f32
    %c73 = arith.constant 8.00000000e+00 : f32
    %v74 = math.powf %v72, %c73 : f32
    %v75 = arith.addf %c67, %v74 : f32
    %c76 = arith.constant 1.00000000e+00 : f32
    %v77 = arith.subf %v75, %c76 : f32
    %c78 = arith.constant 1.00000000e+00 : f32
    %v79 = arith.mulf %v77, %c78 : f32
    %v80 = arith.addf %v66, %v79 : f32
    %v81 = arith.divf %v80, %in63 : f32
    %at82 = linalg.index 1 : index
    %v83 = arith.index_cast %at82 : index to i64
    %at84 = linalg.index 0 : index
    %v85 = arith.index_cast %at84 : index to i64
    %c86 = arith.constant 1 : i64
    %v87 = arith.addi %v85, %c86 : i64
    %v88 = arith.cmpi slt, %v83, %v87 : i64
    %v89 = arith.uitofp %v88 : i1 to f32
    %v90 = arith.mulf %v81, %v89 : f32
    %v91 = arith.divf %v90, %in64 : f32
    linalg.yield %v91 : f32
  } -> tensor<?x?xf32>
  %e93 = tensor.empty(%queries) : tensor<?x1xf32>
  %c94 = arith.constant 0.00000000e+00 : f32
  %f95 = linalg.fill ins(%c94 : f32) outs(%e93 : tensor<?x1xf32>) -> tensor<?x1xf32>
  %product96 = linalg.contract indexing_maps = [affine_map<(i, e, j) -> (i, j)>, affine_map<(i, e, j) -> (j, e)>, affine_map<(i, e, j) -> (i, e)>]
      ins(%t92, %v : tensor<?x?xf32>, tensor<?x1xf32>) outs(%f95 : tensor<?x1xf32>) -> tensor<?x1xf32>
  return %product96 : tensor<?x1xf32>
}
