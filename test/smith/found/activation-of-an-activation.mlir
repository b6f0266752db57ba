// RUN: fovea-smith %s

// One activation of another, of rows whose length is not known, were joined although no tile holds such rows.
//
// choices: batch=1 depth=2 self=1 batch-size=3 queries=2 keys=2 layout-q=4 layout-k=4 layout-v=4 layout-out=4 merge=16 copies=1 score-product=1 value-product=2 scale=7 rule0=14 returns=2 style=2 spelling=894338081
// fused: 1
// masks:
// size: batch 3 4
// size: length 2 7
// input: qkv normal 1

func.func @forward(%qkv: tensor<?x?x6xf32> {fovea.name = "qkv", fovea.dims = ["batch", "length"]})
    -> (tensor<?x?x2xf32> {fovea.name = "output", fovea.dims = ["batch", "length"]}, tensor<?x?x?xf32> {fovea.name = "scores", fovea.dims = ["batch", "length", "length"]})
    attributes {fovea.entry} {
  %c0 = arith.constant 0 : index
  %batch = tensor.dim %qkv, %c0 : tensor<?x?x6xf32>
  %c1 = arith.constant 1 : index
  %length = tensor.dim %qkv, %c1 : tensor<?x?x6xf32>
  %part2 = tensor.extract_slice %qkv[0, 0, 0] [%batch, %length, 2] [1, 1, 1] : tensor<?x?x6xf32> to tensor<?x?x2xf32>
  %part3 = tensor.extract_slice %qkv[0, 0, 2] [%batch, %length, 2] [1, 1, 1] : tensor<?x?x6xf32> to tensor<?x?x2xf32>
  %part4 = tensor.extract_slice %qkv[0, 0, 4] [%batch, %length, 2] [1, 1, 1] : tensor<?x?x6xf32> to tensor<?x?x2xf32>
  %e5 = tensor.empty(%batch, %length, %length) : tensor<?x?x?xf32>
  %c6 = arith.constant 0.00000000e+00 : f32
  %f7 = linalg.fill ins(%c6 : f32) outs(%e5 : tensor<?x?x?xf32>) -> tensor<?x?x?xf32>
  %t13 = linalg.generic {indexing_maps = [affine_map<(b, i, j, d) -> (b, i, d)>, affine_map<(b, i, j, d) -> (b, j, d)>, affine_map<(b, i, j, d) -> (b, i, j)>], iterator_types = ["parallel", "parallel", "parallel", "reduction"]}
      ins(%part2, %part3 : tensor<?x?x2xf32>, tensor<?x?x2xf32>) outs(%f7 : tensor<?x?x?xf32>) {
  ^bb0(%in8: f32, %in9: f32, %acc10: f32):
    %v11 = arith.mulf %in8, %in9 : f32
    %v12 = arith.addf %acc10, %v11 : f32
    linalg.yield %v12 : f32
  } -> tensor<?x?x?xf32>
  %e14 = tensor.empty(%length, %length) : tensor<?x?xi64>
  %t20 = linalg.generic {indexing_maps = [affine_map<(i, j) -> (i, j)>], iterator_types = ["parallel", "parallel"]}
      outs(%e14 : tensor<?x?xi64>) {
  ^bb0(%acc15: i64):
    %at16 = linalg.index 0 : index
    %at17 = linalg.index 1 : index
    %v18 = arith.subi %at16, %at17 : index
    %v19 = arith.index_cast %v18 : index to i64
    linalg.yield %v19 : i64
  } -> tensor<?x?xi64>
  %e21 = tensor.empty(%length, %length) : tensor<?x?xf32>
  %t25 = linalg.generic {indexing_maps = [affine_map<(i, j) -> (i, j)>, affine_map<(i, j) -> (i, j)>], iterator_types = ["parallel", "parallel"]}
      ins(%t20 : tensor<?x?xi64>) outs(%e21 : tensor<?x?xf32>) {
  ^bb0(%in22: i64, %acc23: f32):
    %v24 = arith.sitofp %in22 : i64 to f32
    linalg.yield %v24 : f32
  } -> tensor<?x?xf32>
  %e26 = tensor.empty(%length, %length) : tensor<?x?xf32>
  %t31 = linalg.generic {indexing_maps = [affine_map<(i, j) -> (i, j)>, affine_map<(i, j) -> (i, j)>], iterator_types = ["parallel", "parallel"]}
      ins(%t25 : tensor<?x?xf32>) outs(%e26 : tensor<?x?xf32>) {
  ^bb0(%in27: f32, %acc28: f32):
    %c29 = arith.constant 3.12500000e-02 : f32
    %v30 = arith.mulf %in27, %c29 : f32
    linalg.yield %v30 : f32
  } -> tensor<?x?xf32>
  %e32 = tensor.empty(%length, %length) : tensor<?x?xf32>
  %t36 = linalg.generic {indexing_maps = [affine_map<(j, i) -> (i, j)>, affine_map<(j, i) -> (j, i)>], iterator_types = ["parallel", "parallel"]}
      ins(%t31 : tensor<?x?xf32>) outs(%e32 : tensor<?x?xf32>) {
  ^bb0(%in33: f32, %acc34: f32):
    %v35 = math.tanh %in33 : f32
    linalg.yield %v35 : f32
  } -> tensor<?x?xf32>
  %e37 = tensor.empty(%length, %length) : tensor<?x?xf32>
  %t41 = linalg.generic {indexing_maps = [affine_map<(i, j) -> (j, i)>, affine_map<(i, j) -> (i, j)>], iterator_types = ["parallel", "parallel"]}
      ins(%t36 : tensor<?x?xf32>) outs(%e37 : tensor<?x?xf32>) {
  ^bb0(%in38: f32, %acc39: f32):
    %v40 = math.tanh %in38 : f32
    linalg.yield %v40 : f32
  } -> tensor<?x?xf32>
  %e42 = tensor.empty(%batch, %length, %length) : tensor<?x?x?xf32>
  %t47 = linalg.generic {indexing_maps = [affine_map<(b, i, j) -> (b, i, j)>, affine_map<(b, i, j) -> (b, i, j)>], iterator_types = ["parallel", "parallel", "parallel"]}
      ins(%t13 : tensor<?x?x?xf32>) outs(%e42 : tensor<?x?x?xf32>) {
  ^bb0(%in43: f32, %acc44: f32):
    %c45 = arith.constant 7.07106781e-01 : f32
    %v46 = arith.mulf %in43, %c45 : f32
    linalg.yield %v46 : f32
  } -> tensor<?x?x?xf32>
  %e48 = tensor.empty(%batch, %length, %length) : tensor<?x?x?xf32>
  %t53 = linalg.generic {indexing_maps = [affine_map<(b, i, j) -> (b, i, j)>, affine_map<(b, i, j) -> (b, i, j)>], iterator_types = ["parallel", "parallel", "parallel"]}
      ins(%t47 : tensor<?x?x?xf32>) outs(%e48 : tensor<?x?x?xf32>) {
  ^bb0(%in49: f32, %acc50: f32):
    %c51 = arith.constant 1.50000000e+00 : f32
    %v52 = arith.divf %in49, %c51 : f32
    linalg.yield %v52 : f32
  } -> tensor<?x?x?xf32>
  %e54 = tensor.empty(%batch, %length, %length) : tensor<?x?x?xf32>
  %t58 = linalg.generic {indexing_maps = [affine_map<(b, j, i) -> (b, i, j)>, affine_map<(b, j, i) -> (b, i, j)>], iterator_types = ["parallel", "parallel", "parallel"]}
      ins(%t53 : tensor<?x?x?xf32>) outs(%e54 : tensor<?x?x?xf32>) {
  ^bb0(%in55: f32, %acc56: f32):
    %v57 = arith.subf %in55, %in55 : f32
    linalg.yield %v57 : f32
  } -> tensor<?x?x?xf32>
  %e59 = tensor.empty(%batch, %length, %length) : tensor<?x?x?xf32>
  %t65 = linalg.generic {indexing_maps = [affine_map<(b, i, j) -> (i, j)>, affine_map<(b, i, j) -> (b, i, j)>, affine_map<(b, i, j) -> (b, i, j)>], iterator_types = ["parallel", "parallel", "parallel"]}
      ins(%t41, %t58 : tensor<?x?xf32>, tensor<?x?x?xf32>) outs(%e59 : tensor<?x?x?xf32>) {
  ^bb0(%in60: f32, %in61: f32, %acc62: f32):
    %v63 = math.tanh %in61 : f32
    %v64 = arith.mulf %in60, %v63 : f32
    linalg.yield %v64 : f32
  } -> tensor<?x?x?xf32>
  %e66 = tensor.empty(%batch, %length, %length) : tensor<?x?x?xf32>
  %t70 = linalg.generic {indexing_maps = [affine_map<(b, i, j) -> (b, i, j)>, affine_map<(b, i, j) -> (b, i, j)>], iterator_types = ["parallel", "parallel", "parallel"]}
      ins(%t65 : tensor<?x?x?xf32>) outs(%e66 : tensor<?x?x?xf32>) {
  ^bb0(%in67: f32, %acc68: f32):
    %v69 = math.tanh %in67 : f32
    linalg.yield %v69 : f32
  } -> tensor<?x?x?xf32>
  %e71 = tensor.empty(%batch, %length, %length) : tensor<?x?x?xf32>
  %t76 = linalg.generic {indexing_maps = [affine_map<(b, j, i) -> (b, i, j)>, affine_map<(b, j, i) -> (b, j, i)>], iterator_types = ["parallel", "parallel", "parallel"]}
      ins(%t53 : tensor<?x?x?xf32>) outs(%e71 : tensor<?x?x?xf32>) {
  ^bb0(%in72: f32, %acc73: f32):
    %c74 = arith.constant 5.00000000e-01 : f32
    %v75 = arith.mulf %in72, %c74 : f32
    linalg.yield %v75 : f32
  } -> tensor<?x?x?xf32>
  %e77 = tensor.empty(%batch, %length, %length) : tensor<?x?x?xf32>
  %t82 = linalg.generic {indexing_maps = [affine_map<(b, i, j) -> (b, i, j)>, affine_map<(b, i, j) -> (b, j, i)>, affine_map<(b, i, j) -> (b, i, j)>], iterator_types = ["parallel", "parallel", "parallel"]}
      ins(%t70, %t76 : tensor<?x?x?xf32>, tensor<?x?x?xf32>) outs(%e77 : tensor<?x?x?xf32>) {
  ^bb0(%in78: f32, %in79: f32, %acc80: f32):
    %v81 = arith.addf %in78, %in79 : f32
    linalg.yield %v81 : f32
  } -> tensor<?x?x?xf32>
  %e83 = tensor.empty(%batch, %length, %length) : tensor<?x?x?xf32>
  %p84 = linalg.softmax dimension(2) ins(%t82 : tensor<?x?x?xf32>) outs(%e83 : tensor<?x?x?xf32>) -> tensor<?x?x?xf32>
  %e87 = tensor.empty(%batch, %length) : tensor<?x?x2xf32>
  %c88 = arith.constant 0.00000000e+00 : f32
  %f89 = linalg.fill ins(%c88 : f32) outs(%e87 : tensor<?x?x2xf32>) -> tensor<?x?x2xf32>
  %product90 = linalg.batch_matmul ins(%p84, %part4 : tensor<?x?x?xf32>, tensor<?x?x2xf32>) outs(%f89 : tensor<?x?x2xf32>) -> tensor<?x?x2xf32>
  %e91 = tensor.empty(%batch, %length, %length) : tensor<?x?x?xf32>
  %t96 = linalg.generic {indexing_maps = [affine_map<(b, i, j) -> (b, i, j)>, affine_map<(b, i, j) -> (b, j, i)>, affine_map<(b, i, j) -> (b, i, j)>], iterator_types = ["parallel", "parallel", "parallel"]}
      ins(%t70, %t76 : tensor<?x?x?xf32>, tensor<?x?x?xf32>) outs(%e91 : tensor<?x?x?xf32>) {
  ^bb0(%in92: f32, %in93: f32, %acc94: f32):
    %v95 = arith.addf %in92, %in93 : f32
    linalg.yield %v95 : f32
  } -> tensor<?x?x?xf32>
  return %product90, %t96 : tensor<?x?x2xf32>, tensor<?x?x?xf32>
}
