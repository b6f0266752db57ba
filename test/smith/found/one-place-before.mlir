// RUN: fovea-smith %s

// A mask of one diagonal: few places are allowed.
//
// choices: depth=2 self=1 static=1 batch-size=1 queries=6 keys=6 mask0=5 mask1=7 apply=4 spelling=167906947
// fused: 1
// masks: causal? window
// size: length 6 10
// input: q normal 1
// input: k normal 1
// input: v normal 1

func.func @forward(%q: tensor<?x2xf32> {fovea.name = "q", fovea.dims = ["length"]},
                   %k: tensor<?x2xf32> {fovea.name = "k", fovea.dims = ["length"]},
                   %v: tensor<?x2xf32> {fovea.name = "v", fovea.dims = ["length"]})
    -> (tensor<?x2xf32> {fovea.name = "output", fovea.dims = ["length"]})
    attributes {fovea.entry} {
  %c0 = arith.constant 0 : index
  %length = tensor.dim %q, %c0 : tensor<?x2xf32>
  %e1 = tensor.empty(%length, %length) : tensor<?x?xf32>
  %c2 = arith.constant 0.00000000e+00 : f32
  %f3 = linalg.fill ins(%c2 : f32) outs(%e1 : tensor<?x?xf32>) -> tensor<?x?xf32>
  %product4 = linalg.contract indexing_maps = [affine_map<(i, j, d) -> (i, d)>, affine_map<(i, j, d) -> (j, d)>, affine_map<(i, j, d) -> (i, j)>]
      ins(%q, %k : tensor<?x2xf32>, tensor<?x2xf32>) outs(%f3 : tensor<?x?xf32>) -> tensor<?x?xf32>
  %e5 = tensor.empty(%length, %length) : tensor<?x?xf32>
  %t26 = linalg.generic {indexing_maps = [affine_map<(i, j) -> (i, j)>, affine_map<(i, j) -> (i, j)>], iterator_types = ["parallel", "parallel"]}
      ins(%product4 : tensor<?x?xf32>) outs(%e5 : tensor<?x?xf32>) {
  ^bb0(%in6: f32, %acc7: f32):
    %at8 = linalg.index 0 : index
    %v9 = arith.index_cast %at8 : index to i32
    %at10 = linalg.index 1 : index
    %v11 = arith.index_cast %at10 : index to i32
    %v12 = arith.subi %v9, %v11 : i32
    %v13 = math.absi %v12 : i32
    %c14 = arith.constant 1 : i32
    %v15 = arith.cmpi sle, %v13, %c14 : i32
    %at16 = linalg.index 1 : index
    %v17 = arith.index_cast %at16 : index to i64
    %at18 = linalg.index 0 : index
    %v19 = arith.index_cast %at18 : index to i64
    %v20 = arith.cmpi slt, %v17, %v19 : i64
    %v21 = arith.andi %v15, %v20 : i1
    %c22 = arith.constant 0.00000000e+00 : f32
    %c23 = arith.constant 0xFF800000 : f32
    %v24 = arith.select %v21, %c22, %c23 : f32
    %v25 = arith.addf %in6, %v24 : f32
    linalg.yield %v25 : f32
  } -> tensor<?x?xf32>
  %e27 = tensor.empty(%length, %length) : tensor<?x?xf32>
  %p28 = linalg.softmax dimension(1) ins(%t26 : tensor<?x?xf32>) outs(%e27 : tensor<?x?xf32>) -> tensor<?x?xf32>
  %e29 = tensor.empty(%length) : tensor<?x2xf32>
  %c30 = arith.constant 0.00000000e+00 : f32
  %f31 = linalg.fill ins(%c30 : f32) outs(%e29 : tensor<?x2xf32>) -> tensor<?x2xf32>
  %product32 = linalg.contract indexing_maps = [affine_map<(i, e, j) -> (i, j)>, affine_map<(i, e, j) -> (j, e)>, affine_map<(i, e, j) -> (i, e)>]
      ins(%p28, %v : tensor<?x?xf32>, tensor<?x2xf32>) outs(%f31 : tensor<?x2xf32>) -> tensor<?x2xf32>
  return %product32 : tensor<?x2xf32>
}
