// RUN: fovea-smith %s

// No attention: a softmax over keys, summed over queries. Where masks leave one key, it looks like one.
//
// choices: batch=1 heads=3 depth=8 self=1 batch-size=1 queries=9 keys=9 mask0=10 mask1=12 mask-form=3 softmax=3 negative=9 spelling=281751267
// fused: 0
// masks:
// size: batch 1 2
// size: length 9 11
// input: q normal 1
// input: k normal 1
// input: v normal 1
// input: length0 upto length 1
// input: segment1 documents 3

func.func @forward(%q: tensor<?x3x?x8xf32> {fovea.name = "q", fovea.dims = ["batch", "length"]},
                   %k: tensor<?x3x?x8xf32> {fovea.name = "k", fovea.dims = ["batch", "length"]},
                   %v: tensor<?x3x?x8xf32> {fovea.name = "v", fovea.dims = ["batch", "length"]},
                   %length0: tensor<1xi32> {fovea.name = "length0"},
                   %segment1: tensor<?x?xi32> {fovea.name = "segment1", fovea.dims = ["batch", "length"]})
    -> (tensor<?x3x?x8xf32> {fovea.name = "output", fovea.dims = ["batch", "length"]})
    attributes {fovea.entry} {
  %c0 = arith.constant 0 : index
  %batch = tensor.dim %q, %c0 : tensor<?x3x?x8xf32>
  %c1 = arith.constant 2 : index
  %length = tensor.dim %q, %c1 : tensor<?x3x?x8xf32>
  %e2 = tensor.empty(%batch, %length, %length) : tensor<?x3x?x?xf32>
  %c3 = arith.constant 0.00000000e+00 : f32
  %f4 = linalg.fill ins(%c3 : f32) outs(%e2 : tensor<?x3x?x?xf32>) -> tensor<?x3x?x?xf32>
  %product5 = linalg.contract indexing_maps = [affine_map<(b, h, i, j, d) -> (b, h, i, d)>, affine_map<(b, h, i, j, d) -> (b, h, j, d)>, affine_map<(b, h, i, j, d) -> (b, h, i, j)>]
      ins(%q, %k : tensor<?x3x?x8xf32>, tensor<?x3x?x8xf32>) outs(%f4 : tensor<?x3x?x?xf32>) -> tensor<?x3x?x?xf32>
  %e6 = tensor.empty(%batch, %length, %length) : tensor<?x?x?xi64>
  %t17 = linalg.generic {indexing_maps = [affine_map<(b, i, j) -> (0)>, affine_map<(b, i, j) -> (b, i)>, affine_map<(b, i, j) -> (b, j)>, affine_map<(b, i, j) -> (b, i, j)>], iterator_types = ["parallel", "parallel", "parallel"]}
      ins(%length0, %segment1, %segment1 : tensor<1xi32>, tensor<?x?xi32>, tensor<?x?xi32>) outs(%e6 : tensor<?x?x?xi64>) {
  ^bb0(%in7: i32, %in8: i32, %in9: i32, %acc10: i64):
    %at11 = linalg.index 2 : index
    %v12 = arith.index_cast %in7 : i32 to index
    %v13 = arith.cmpi slt, %at11, %v12 : index
    %v14 = arith.cmpi eq, %in8, %in9 : i32
    %v15 = arith.andi %v13, %v14 : i1
    %v16 = arith.extui %v15 : i1 to i64
    linalg.yield %v16 : i64
  } -> tensor<?x?x?xi64>
  %e18 = tensor.empty(%batch, %length) : tensor<?x3x?xf32>
  %c19 = arith.constant 0xFF800000 : f32
  %f20 = linalg.fill ins(%c19 : f32) outs(%e18 : tensor<?x3x?xf32>) -> tensor<?x3x?xf32>
  %t29 = linalg.generic {indexing_maps = [affine_map<(b, h, i, j) -> (b, i, j)>, affine_map<(b, h, i, j) -> (b, h, i, j)>, affine_map<(b, h, i, j) -> (b, h, i)>], iterator_types = ["parallel", "parallel", "parallel", "reduction"]}
      ins(%t17, %product5 : tensor<?x?x?xi64>, tensor<?x3x?x?xf32>) outs(%f20 : tensor<?x3x?xf32>) {
  ^bb0(%in21: i64, %in22: f32, %acc23: f32):
    %c24 = arith.constant 0 : i64
    %v25 = arith.cmpi ne, %in21, %c24 : i64
    %c26 = arith.constant 0xFF800000 : f32
    %v27 = arith.select %v25, %in22, %c26 : f32
    %v28 = arith.maxnumf %acc23, %v27 : f32
    linalg.yield %v28 : f32
  } -> tensor<?x3x?xf32>
  %e30 = tensor.empty(%batch, %length, %length) : tensor<?x3x?x?xf32>
  %t41 = linalg.generic {indexing_maps = [affine_map<(b, i, h, j) -> (b, i, j)>, affine_map<(b, i, h, j) -> (b, h, i, j)>, affine_map<(b, i, h, j) -> (b, h, i)>, affine_map<(b, i, h, j) -> (b, h, j, i)>], iterator_types = ["parallel", "parallel", "parallel", "parallel"]}
      ins(%t17, %product5, %t29 : tensor<?x?x?xi64>, tensor<?x3x?x?xf32>, tensor<?x3x?xf32>) outs(%e30 : tensor<?x3x?x?xf32>) {
  ^bb0(%in31: i64, %in32: f32, %in33: f32, %acc34: f32):
    %c35 = arith.constant 0 : i64
    %v36 = arith.cmpi ne, %in31, %c35 : i64
    %c37 = arith.constant 0xFF800000 : f32
    %v38 = arith.select %v36, %in32, %c37 : f32
    %v39 = arith.subf %v38, %in33 : f32
    %v40 = math.exp %v39 : f32
    linalg.yield %v40 : f32
  } -> tensor<?x3x?x?xf32>
  %e42 = tensor.empty(%batch, %length) : tensor<?x3x?xf32>
  %c43 = arith.constant 0.00000000e+00 : f32
  %f44 = linalg.fill ins(%c43 : f32) outs(%e42 : tensor<?x3x?xf32>) -> tensor<?x3x?xf32>
  %r45 = linalg.reduce { arith.addf } ins(%t41 : tensor<?x3x?x?xf32>) outs(%f44 : tensor<?x3x?xf32>) dimensions = [2]
  %e46 = tensor.empty(%batch, %length, %length) : tensor<?x3x?x?xf32>
  %t60 = linalg.generic {indexing_maps = [affine_map<(b, h, i, j) -> (b, i, j)>, affine_map<(b, h, i, j) -> (b, h, i, j)>, affine_map<(b, h, i, j) -> (b, h, i)>, affine_map<(b, h, i, j) -> (b, h, i)>, affine_map<(b, h, i, j) -> (b, h, i, j)>], iterator_types = ["parallel", "parallel", "parallel", "parallel"]}
      ins(%t17, %product5, %t29, %r45 : tensor<?x?x?xi64>, tensor<?x3x?x?xf32>, tensor<?x3x?xf32>, tensor<?x3x?xf32>) outs(%e46 : tensor<?x3x?x?xf32>) {
  ^bb0(%in47: i64, %in48: f32, %in49: f32, %in50: f32, %acc51: f32):
    %c52 = arith.constant 0 : i64
    %v53 = arith.cmpi ne, %in47, %c52 : i64
    %c54 = arith.constant 0xFF800000 : f32
    %v55 = arith.select %v53, %in48, %c54 : f32
    %v56 = arith.subf %v55, %in49 : f32
    %v57 = math.log %in50 : f32
    %v58 = arith.subf %v56, %v57 : f32
    %v59 = math.exp %v58 : f32
    linalg.yield %v59 : f32
  } -> tensor<?x3x?x?xf32>
  %e61 = tensor.empty(%batch, %length) : tensor<?x3x?x8xf32>
  %c62 = arith.constant 0.00000000e+00 : f32
  %f63 = linalg.fill ins(%c62 : f32) outs(%e61 : tensor<?x3x?x8xf32>) -> tensor<?x3x?x8xf32>
  %product64 = linalg.contract indexing_maps = [affine_map<(b, h, j, d, i) -> (b, h, i, j)>, affine_map<(b, h, j, d, i) -> (b, h, i, d)>, affine_map<(b, h, j, d, i) -> (b, h, j, d)>]
      ins(%t60, %q : tensor<?x3x?x?xf32>, tensor<?x3x?x8xf32>) outs(%f63 : tensor<?x3x?x8xf32>) -> tensor<?x3x?x8xf32>
  return %product64 : tensor<?x3x?x8xf32>
}
