// RUN: fovea-smith %s

// A constant that scores read, where parts of the keys are merged: each phase needs it, only the first had it.
//
// choices: heads=2 depth=1 static=3 batch-size=1 queries=1 keys=1 rule0=4 mask0=1 apply=3 spelling=1013001370
// fused: -1
// masks: *
// size: keys 1 4
// input: q normal 1
// input: k normal 1
// input: v normal 1

func.func @forward(%q: tensor<2x1x1xf32> {fovea.name = "q"},
                   %k: tensor<2x?x1xf32> {fovea.name = "k", fovea.dims = ["keys"]},
                   %v: tensor<2x?x1xf32> {fovea.name = "v", fovea.dims = ["keys"]})
    -> (tensor<2x1x1xf32> {fovea.name = "output"})
    attributes {fovea.entry} {
  %c0 = arith.constant 1 : index
  %keys = tensor.dim %k, %c0 : tensor<2x?x1xf32>
  %e1 = tensor.empty(%keys) : tensor<2x1x?xf32>
  %c2 = arith.constant 0.00000000e+00 : f32
  %f3 = linalg.fill ins(%c2 : f32) outs(%e1 : tensor<2x1x?xf32>) -> tensor<2x1x?xf32>
  %product4 = linalg.contract indexing_maps = [affine_map<(h, i, j, d) -> (h, i, d)>, affine_map<(h, i, j, d) -> (h, j, d)>, affine_map<(h, i, j, d) -> (h, i, j)>]
      ins(%q, %k : tensor<2x1x1xf32>, tensor<2x?x1xf32>) outs(%f3 : tensor<2x1x?xf32>) -> tensor<2x1x?xf32>
  %k5 = arith.constant dense<[5.00000000e-01, 2.50000000e-01]> : tensor<2xf32>
  %e6 = tensor.empty(%keys) : tensor<2x1x?xf32>
  %t31 = linalg.generic {indexing_maps = [affine_map<(h, i, j) -> (h, i, j)>, affine_map<(h, i, j) -> (h)>, affine_map<(h, i, j) -> (h, i, j)>], iterator_types = ["parallel", "parallel", "parallel"]}
      ins(%product4, %k5 : tensor<2x1x?xf32>, tensor<2xf32>) outs(%e6 : tensor<2x1x?xf32>) {
  ^bb0(%in7: f32, %in8: f32, %acc9: f32):
    %at10 = linalg.index 2 : index
    %v11 = arith.index_cast %at10 : index to i64
    %at12 = linalg.index 1 : index
    %v13 = arith.index_cast %at12 : index to i64
    %v14 = arith.subi %v11, %v13 : i64
    %v15 = arith.sitofp %v14 : i64 to f32
    %v16 = arith.mulf %in8, %v15 : f32
    %v17 = arith.addf %in7, %v16 : f32
    %c18 = arith.constant 1.00000000e+00 : f32
    %at19 = linalg.index 2 : index
    %v20 = arith.index_cast %at19 : index to i32
    %at21 = linalg.index 1 : index
    %v22 = arith.index_cast %at21 : index to i32
    %v23 = arith.cmpi sgt, %v20, %v22 : i32
    %c24 = arith.constant true
    %v25 = arith.xori %v23, %c24 : i1
    %v26 = arith.uitofp %v25 : i1 to f32
    %v27 = arith.subf %c18, %v26 : f32
    %c28 = arith.constant -1.00000000e+04 : f32
    %v29 = arith.mulf %v27, %c28 : f32
    %v30 = arith.addf %v17, %v29 : f32
    linalg.yield %v30 : f32
  } -> tensor<2x1x?xf32>
  %e32 = tensor.empty(%keys) : tensor<2x1x?xf32>
  %p33 = linalg.softmax dimension(2) ins(%t31 : tensor<2x1x?xf32>) outs(%e32 : tensor<2x1x?xf32>) -> tensor<2x1x?xf32>
  %e34 = tensor.empty() : tensor<2x1x1xf32>
  %c35 = arith.constant 0.00000000e+00 : f32
  %f36 = linalg.fill ins(%c35 : f32) outs(%e34 : tensor<2x1x1xf32>) -> tensor<2x1x1xf32>
  %product37 = linalg.contract indexing_maps = [affine_map<(h, i, e, j) -> (h, i, j)>, affine_map<(h, i, e, j) -> (h, j, e)>, affine_map<(h, i, e, j) -> (h, i, e)>]
      ins(%p33, %v : tensor<2x1x?xf32>, tensor<2x?x1xf32>) outs(%f36 : tensor<2x1x1xf32>) -> tensor<2x1x1xf32>
  return %product37 : tensor<2x1x1xf32>
}
