// RUN: fovea-smith %s

// Rows without keys, in f16, that are the mean of values: taken for zero.
//
// choices: type=1 upcast=1 batch=2 heads=4 group=4 grouping=2 depth=8 self=1 batch-size=1 queries=4 keys=4 merge=15 value-product=3 scale=3 rule0=5 rule1=1 mask0=10 mask1=6 apply=1 guard=1 style=1 spelling=719205922
// fused: 1
// masks: causal length window
// size: batch 1 5
// size: length 4 9
// size: windows 2 4
// input: q normal 1
// input: k normal 1
// input: v normal 1
// input: bias1 normal 1
// input: length0 upto length 1

func.func @forward(%q: tensor<?x?x?x128xf16> {fovea.name = "q", fovea.dims = ["batch", "windows", "length"]},
                   %k: tensor<?x?x?x32xf16> {fovea.name = "k", fovea.dims = ["batch", "windows", "length"]},
                   %v: tensor<?x?x?x32xf16> {fovea.name = "v", fovea.dims = ["batch", "windows", "length"]},
                   %bias1: tensor<?x?x1x1x?xf16> {fovea.name = "bias1", fovea.dims = ["batch", "windows", "length"]},
                   %length0: tensor<i64> {fovea.name = "length0"})
    -> (tensor<?x?x?x128xf16> {fovea.name = "output", fovea.dims = ["batch", "windows", "length"]})
    attributes {fovea.entry} {
  %c0 = arith.constant 0 : index
  %batch = tensor.dim %q, %c0 : tensor<?x?x?x128xf16>
  %c1 = arith.constant 1 : index
  %windows = tensor.dim %q, %c1 : tensor<?x?x?x128xf16>
  %c2 = arith.constant 2 : index
  %length = tensor.dim %q, %c2 : tensor<?x?x?x128xf16>
  %split3 = tensor.expand_shape %q [[0], [1], [2], [3, 4]] output_shape [%batch, %windows, %length, 16, 8] : tensor<?x?x?x128xf16> into tensor<?x?x?x16x8xf16>
  %split4 = tensor.expand_shape %k [[0], [1], [2], [3, 4]] output_shape [%batch, %windows, %length, 4, 8] : tensor<?x?x?x32xf16> into tensor<?x?x?x4x8xf16>
  %split5 = tensor.expand_shape %v [[0], [1], [2], [3, 4]] output_shape [%batch, %windows, %length, 4, 8] : tensor<?x?x?x32xf16> into tensor<?x?x?x4x8xf16>
  %e6 = tensor.empty(%batch, %windows, %length) : tensor<?x?x?x16x8xf16>
  %t16 = linalg.generic {indexing_maps = [affine_map<(b, c, j, A, d) -> (b, c, j, A, d)>], iterator_types = ["parallel", "parallel", "parallel", "parallel", "parallel"]}
      outs(%e6 : tensor<?x?x?x16x8xf16>) {
  ^bb0(%acc7: f16):
    %at8 = linalg.index 0 : index
    %at9 = linalg.index 1 : index
    %at10 = linalg.index 2 : index
    %at11 = linalg.index 3 : index
    %c12 = arith.constant 4 : index
    %v13 = arith.divsi %at11, %c12 : index
    %at14 = linalg.index 4 : index
    %read15 = tensor.extract %split4[%at8, %at9, %at10, %v13, %at14] : tensor<?x?x?x4x8xf16>
    linalg.yield %read15 : f16
  } -> tensor<?x?x?x16x8xf16>
  %e17 = tensor.empty(%batch, %windows, %length) : tensor<?x?x?x16x8xf16>
  %t27 = linalg.generic {indexing_maps = [affine_map<(b, c, j, A, e) -> (b, c, j, A, e)>], iterator_types = ["parallel", "parallel", "parallel", "parallel", "parallel"]}
      outs(%e17 : tensor<?x?x?x16x8xf16>) {
  ^bb0(%acc18: f16):
    %at19 = linalg.index 0 : index
    %at20 = linalg.index 1 : index
    %at21 = linalg.index 2 : index
    %at22 = linalg.index 3 : index
    %c23 = arith.constant 4 : index
    %v24 = arith.divsi %at22, %c23 : index
    %at25 = linalg.index 4 : index
    %read26 = tensor.extract %split5[%at19, %at20, %at21, %v24, %at25] : tensor<?x?x?x4x8xf16>
    linalg.yield %read26 : f16
  } -> tensor<?x?x?x16x8xf16>
  %e28 = tensor.empty(%batch, %windows, %length) : tensor<?x?x?x16x8xf16>
  %t33 = linalg.generic {indexing_maps = [affine_map<(b, c, j, A, d) -> (b, c, j, A, d)>, affine_map<(b, c, j, A, d) -> (b, c, j, A, d)>], iterator_types = ["parallel", "parallel", "parallel", "parallel", "parallel"]}
      ins(%t16 : tensor<?x?x?x16x8xf16>) outs(%e28 : tensor<?x?x?x16x8xf16>) {
  ^bb0(%in29: f16, %acc30: f16):
    %c31 = arith.constant 2.82842712e+00 : f16
    %v32 = arith.divf %in29, %c31 : f16
    linalg.yield %v32 : f16
  } -> tensor<?x?x?x16x8xf16>
  %e34 = tensor.empty(%batch, %windows, %length, %length) : tensor<?x?x16x?x?xf32>
  %c35 = arith.constant 0.00000000e+00 : f32
  %f36 = linalg.fill ins(%c35 : f32) outs(%e34 : tensor<?x?x16x?x?xf32>) -> tensor<?x?x16x?x?xf32>
  %product37 = linalg.contract indexing_maps = [affine_map<(b, c, A, i, j, d) -> (b, c, i, A, d)>, affine_map<(b, c, A, i, j, d) -> (b, c, j, A, d)>, affine_map<(b, c, A, i, j, d) -> (b, c, A, i, j)>]
      ins(%split3, %t33 : tensor<?x?x?x16x8xf16>, tensor<?x?x?x16x8xf16>) outs(%f36 : tensor<?x?x16x?x?xf32>) -> tensor<?x?x16x?x?xf32>
  %e38 = tensor.empty(%length) : tensor<?xi64>
  %t44 = linalg.generic {indexing_maps = [affine_map<(j) -> (j)>], iterator_types = ["parallel"]}
      outs(%e38 : tensor<?xi64>) {
  ^bb0(%acc39: i64):
    %at40 = linalg.index 0 : index
    %v41 = arith.index_cast %at40 : index to i64
    %c42 = arith.constant 2 : i64
    %v43 = arith.addi %v41, %c42 : i64
    linalg.yield %v43 : i64
  } -> tensor<?xi64>
  %e45 = tensor.empty(%length, %length) : tensor<?x?xi1>
  %t51 = linalg.generic {indexing_maps = [affine_map<(i, j) -> (j)>, affine_map<(i, j) -> (i, j)>], iterator_types = ["parallel", "parallel"]}
      ins(%t44 : tensor<?xi64>) outs(%e45 : tensor<?x?xi1>) {
  ^bb0(%in46: i64, %acc47: i1):
    %at48 = linalg.index 0 : index
    %v49 = arith.index_cast %at48 : index to i64
    %v50 = arith.cmpi sgt, %in46, %v49 : i64
    linalg.yield %v50 : i1
  } -> tensor<?x?xi1>
  %e52 = tensor.empty(%length, %length) : tensor<?x?xi1>
  %t61 = linalg.generic {indexing_maps = [affine_map<(j, i) -> (i, j)>, affine_map<(j, i) -> (i, j)>], iterator_types = ["parallel", "parallel"]}
      ins(%t51 : tensor<?x?xi1>) outs(%e52 : tensor<?x?xi1>) {
  ^bb0(%in53: i1, %acc54: i1):
    %at55 = linalg.index 1 : index
    %v56 = arith.index_cast %at55 : index to i64
    %at57 = linalg.index 0 : index
    %v58 = arith.index_cast %at57 : index to i64
    %v59 = arith.cmpi sge, %v56, %v58 : i64
    %v60 = arith.andi %v59, %in53 : i1
    linalg.yield %v60 : i1
  } -> tensor<?x?xi1>
  %e62 = tensor.empty(%length, %length) : tensor<?x?xi1>
  %t70 = linalg.generic {indexing_maps = [affine_map<(i, j) -> ()>, affine_map<(i, j) -> (i, j)>, affine_map<(i, j) -> (i, j)>], iterator_types = ["parallel", "parallel"]}
      ins(%length0, %t61 : tensor<i64>, tensor<?x?xi1>) outs(%e62 : tensor<?x?xi1>) {
  ^bb0(%in63: i64, %in64: i1, %acc65: i1):
    %at66 = linalg.index 1 : index
    %v67 = arith.index_cast %at66 : index to i64
    %v68 = arith.cmpi slt, %v67, %in63 : i64
    %v69 = arith.andi %v68, %in64 : i1
    linalg.yield %v69 : i1
  } -> tensor<?x?xi1>
  %e71 = tensor.empty(%length) : tensor<?xi64>
  %t75 = linalg.generic {indexing_maps = [affine_map<(i) -> (i)>], iterator_types = ["parallel"]}
      outs(%e71 : tensor<?xi64>) {
  ^bb0(%acc72: i64):
    %at73 = linalg.index 0 : index
    %v74 = arith.index_cast %at73 : index to i64
    linalg.yield %v74 : i64
  } -> tensor<?xi64>
  %e76 = tensor.empty(%length, %length) : tensor<?x?xf32>
  %t86 = linalg.generic {indexing_maps = [affine_map<(j, i) -> (i)>, affine_map<(j, i) -> (i, j)>], iterator_types = ["parallel", "parallel"]}
      ins(%t75 : tensor<?xi64>) outs(%e76 : tensor<?x?xf32>) {
  ^bb0(%in77: i64, %acc78: f32):
    %c79 = arith.constant 1.25000000e-01 : f32
    %at80 = linalg.index 0 : index
    %v81 = arith.index_cast %at80 : index to i64
    %v82 = arith.subi %v81, %in77 : i64
    %v83 = math.absi %v82 : i64
    %v84 = arith.sitofp %v83 : i64 to f32
    %v85 = arith.mulf %c79, %v84 : f32
    linalg.yield %v85 : f32
  } -> tensor<?x?xf32>
  %e87 = tensor.empty(%batch, %windows, %length) : tensor<?x?x?xf32>
  %t91 = linalg.generic {indexing_maps = [affine_map<(b, c, j) -> (b, c, 0, 0, j)>, affine_map<(b, c, j) -> (b, c, j)>], iterator_types = ["parallel", "parallel", "parallel"]}
      ins(%bias1 : tensor<?x?x1x1x?xf16>) outs(%e87 : tensor<?x?x?xf32>) {
  ^bb0(%in88: f16, %acc89: f32):
    %v90 = arith.extf %in88 : f16 to f32
    linalg.yield %v90 : f32
  } -> tensor<?x?x?xf32>
  %e92 = tensor.empty(%batch, %windows, %length, %length) : tensor<?x?x?x?x16xf32>
  %t99 = linalg.generic {indexing_maps = [affine_map<(b, c, i, j, A) -> (b, c, A, i, j)>, affine_map<(b, c, i, j, A) -> (i, j)>, affine_map<(b, c, i, j, A) -> (b, c, j)>, affine_map<(b, c, i, j, A) -> (b, c, i, j, A)>], iterator_types = ["parallel", "parallel", "parallel", "parallel", "parallel"]}
      ins(%product37, %t86, %t91 : tensor<?x?x16x?x?xf32>, tensor<?x?xf32>, tensor<?x?x?xf32>) outs(%e92 : tensor<?x?x?x?x16xf32>) {
  ^bb0(%in93: f32, %in94: f32, %in95: f32, %acc96: f32):
    %v97 = arith.subf %in93, %in94 : f32
    %v98 = arith.addf %v97, %in95 : f32
    linalg.yield %v98 : f32
  } -> tensor<?x?x?x?x16xf32>
  %e100 = tensor.empty(%batch, %windows, %length, %length) : tensor<?x?x16x?x?xf32>
  %t106 = linalg.generic {indexing_maps = [affine_map<(b, c, A, i, j) -> (i, j)>, affine_map<(b, c, A, i, j) -> (b, c, i, j, A)>, affine_map<(b, c, A, i, j) -> (b, c, A, i, j)>], iterator_types = ["parallel", "parallel", "parallel", "parallel", "parallel"]}
      ins(%t70, %t99 : tensor<?x?xi1>, tensor<?x?x?x?x16xf32>) outs(%e100 : tensor<?x?x16x?x?xf32>) {
  ^bb0(%in101: i1, %in102: f32, %acc103: f32):
    %c104 = arith.constant -1.00000000e+09 : f32
    %v105 = arith.select %in101, %in102, %c104 : f32
    linalg.yield %v105 : f32
  } -> tensor<?x?x16x?x?xf32>
  %e107 = tensor.empty(%batch, %windows, %length, %length) : tensor<?x?x16x?x?xf32>
  %p108 = linalg.softmax dimension(4) ins(%t106 : tensor<?x?x16x?x?xf32>) outs(%e107 : tensor<?x?x16x?x?xf32>) -> tensor<?x?x16x?x?xf32>
  %e109 = tensor.empty(%batch, %windows, %length, %length) : tensor<?x?x16x?x?xf16>
  %t116 = linalg.generic {indexing_maps = [affine_map<(b, c, A, i, j) -> (b, c, A, i, j)>, affine_map<(b, c, A, i, j) -> (b, c, A, i, j)>], iterator_types = ["parallel", "parallel", "parallel", "parallel", "parallel"]}
      ins(%p108 : tensor<?x?x16x?x?xf32>) outs(%e109 : tensor<?x?x16x?x?xf16>) {
  ^bb0(%in110: f32, %acc111: f16):
    %v112 = arith.cmpf une, %in110, %in110 : f32
    %c113 = arith.constant 0.00000000e+00 : f32
    %v114 = arith.select %v112, %c113, %in110 : f32
    %v115 = arith.truncf %v114 : f32 to f16
    linalg.yield %v115 : f16
  } -> tensor<?x?x16x?x?xf16>
  %e117 = tensor.empty(%batch, %windows, %length, %length) : tensor<?x?x16x?x?x8xf16>
  %t122 = linalg.generic {indexing_maps = [affine_map<(b, c, A, j, i, e) -> (b, c, A, i, j)>, affine_map<(b, c, A, j, i, e) -> (b, c, j, A, e)>, affine_map<(b, c, A, j, i, e) -> (b, c, A, j, i, e)>], iterator_types = ["parallel", "parallel", "parallel", "parallel", "parallel", "parallel"]}
      ins(%t116, %t27 : tensor<?x?x16x?x?xf16>, tensor<?x?x?x16x8xf16>) outs(%e117 : tensor<?x?x16x?x?x8xf16>) {
  ^bb0(%in118: f16, %in119: f16, %acc120: f16):
    %v121 = arith.mulf %in118, %in119 : f16
    linalg.yield %v121 : f16
  } -> tensor<?x?x16x?x?x8xf16>
  %e123 = tensor.empty(%batch, %windows, %length) : tensor<?x?x16x?x8xf16>
  %c124 = arith.constant 0.00000000e+00 : f16
  %f125 = linalg.fill ins(%c124 : f16) outs(%e123 : tensor<?x?x16x?x8xf16>) -> tensor<?x?x16x?x8xf16>
  %r126 = linalg.reduce { arith.addf } ins(%t122 : tensor<?x?x16x?x?x8xf16>) outs(%f125 : tensor<?x?x16x?x8xf16>) dimensions = [3]
  %e127 = tensor.empty(%batch, %windows, %length) : tensor<?x?x?x16x8xf16>
  %turned128 = linalg.transpose ins(%r126 : tensor<?x?x16x?x8xf16>) outs(%e127 : tensor<?x?x?x16x8xf16>) permutation = [0, 1, 3, 2, 4]
  %flat129 = tensor.collapse_shape %turned128 [[0], [1], [2], [3, 4]] : tensor<?x?x?x16x8xf16> into tensor<?x?x?x128xf16>
  return %flat129 : tensor<?x?x?x128xf16>
}
