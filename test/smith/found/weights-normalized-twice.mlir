// RUN: fovea-smith %s

// Two sums whose rounding errors cancel each other in the program, and not where one of them is an attention by itself.
//
// choices: type=1 heads=1 group=2 grouping=1 depth=8 static=1 batch-size=2 queries=4 keys=4 layout-q=4 layout-k=2 layout-v=3 layout-out=7 merge=15 score-product=2 value-product=2 score-order=3 rule1=4 rule2=8 mask0=10 mask1=3 apply=10 mask-form=2 softmax=1 norm=1 style=1 spelling=130205229
// fused: -1
// masks: causal|dense length
// size: keys 4 9
// size: queries 4 8
// input: q normal 1
// input: k normal 1
// input: v normal 1
// input: length0 upto keys 0
// input: length1 below 6

func.func @forward(%q: tensor<?x16xf16> {fovea.name = "q", fovea.dims = ["queries"]},
                   %k: tensor<?x8xf16> {fovea.name = "k", fovea.dims = ["keys"]},
                   %v: tensor<?x8xf16> {fovea.name = "v", fovea.dims = ["keys"]},
                   %length0: tensor<1xi64> {fovea.name = "length0"},
                   %length1: tensor<i64> {fovea.name = "length1"})
    -> (tensor<?x16xf16> {fovea.name = "output", fovea.dims = ["queries"]})
    attributes {fovea.entry} {
  %c0 = arith.constant 0 : index
  %queries = tensor.dim %q, %c0 : tensor<?x16xf16>
  %split1 = tensor.expand_shape %q [[0], [1, 2]] output_shape [%queries, 2, 8] : tensor<?x16xf16> into tensor<?x2x8xf16>
  %c2 = arith.constant 0 : index
  %keys = tensor.dim %k, %c2 : tensor<?x8xf16>
  %split3 = tensor.expand_shape %k [[0], [1, 2]] output_shape [%keys, 1, 8] : tensor<?x8xf16> into tensor<?x1x8xf16>
  %split4 = tensor.expand_shape %v [[0], [1, 2]] output_shape [%keys, 1, 8] : tensor<?x8xf16> into tensor<?x1x8xf16>
  %e5 = tensor.empty(%keys) : tensor<?x1x2x8xf16>
  %t8 = linalg.generic {indexing_maps = [affine_map<(j, k, g, d) -> (j, k, d)>, affine_map<(j, k, g, d) -> (j, k, g, d)>], iterator_types = ["parallel", "parallel", "parallel", "parallel"]}
      ins(%split3 : tensor<?x1x8xf16>) outs(%e5 : tensor<?x1x2x8xf16>) {
  ^bb0(%in6: f16, %acc7: f16):
    linalg.yield %in6 : f16
  } -> tensor<?x1x2x8xf16>
  %flat9 = tensor.collapse_shape %t8 [[0], [1, 2], [3]] : tensor<?x1x2x8xf16> into tensor<?x2x8xf16>
  %e10 = tensor.empty(%keys) : tensor<?x1x2x8xf16>
  %t13 = linalg.generic {indexing_maps = [affine_map<(j, k, g, e) -> (j, k, e)>, affine_map<(j, k, g, e) -> (j, k, g, e)>], iterator_types = ["parallel", "parallel", "parallel", "parallel"]}
      ins(%split4 : tensor<?x1x8xf16>) outs(%e10 : tensor<?x1x2x8xf16>) {
  ^bb0(%in11: f16, %acc12: f16):
    linalg.yield %in11 : f16
  } -> tensor<?x1x2x8xf16>
  %flat14 = tensor.collapse_shape %t13 [[0], [1, 2], [3]] : tensor<?x1x2x8xf16> into tensor<?x2x8xf16>
  %e15 = tensor.empty(%queries) : tensor<2x?x8xf16>
  %turned16 = linalg.transpose ins(%split1 : tensor<?x2x8xf16>) outs(%e15 : tensor<2x?x8xf16>) permutation = [1, 0, 2]
  %e18 = tensor.empty(%keys) : tensor<2x8x?xf16>
  %turned19 = linalg.transpose ins(%flat9 : tensor<?x2x8xf16>) outs(%e18 : tensor<2x8x?xf16>) permutation = [1, 2, 0]
  %e21 = tensor.empty(%queries, %keys) : tensor<2x?x?xf16>
  %c22 = arith.constant 0.00000000e+00 : f16
  %f23 = linalg.fill ins(%c22 : f16) outs(%e21 : tensor<2x?x?xf16>) -> tensor<2x?x?xf16>
  %product24 = linalg.batch_matmul ins(%turned16, %turned19 : tensor<2x?x8xf16>, tensor<2x8x?xf16>) outs(%f23 : tensor<2x?x?xf16>) -> tensor<2x?x?xf16>
  %e25 = tensor.empty(%keys, %queries) : tensor<2x?x?xf16>
  %turned26 = linalg.transpose ins(%product24 : tensor<2x?x?xf16>) outs(%e25 : tensor<2x?x?xf16>) permutation = [0, 2, 1]
  %k27 = arith.constant dense<[5.00000000e-01, 2.50000000e-01]> : tensor<2xf16>
  %e28 = tensor.empty(%keys) : tensor<?xi1>
  %t34 = linalg.generic {indexing_maps = [affine_map<(j) -> (0)>, affine_map<(j) -> (j)>], iterator_types = ["parallel"]}
      ins(%length0 : tensor<1xi64>) outs(%e28 : tensor<?xi1>) {
  ^bb0(%in29: i64, %acc30: i1):
    %at31 = linalg.index 0 : index
    %v32 = arith.index_cast %in29 : i64 to index
    %v33 = arith.cmpi slt, %at31, %v32 : index
    linalg.yield %v33 : i1
  } -> tensor<?xi1>
  %e35 = tensor.empty(%queries) : tensor<?xi64>
  %t41 = linalg.generic {indexing_maps = [affine_map<(i) -> ()>, affine_map<(i) -> (i)>], iterator_types = ["parallel"]}
      ins(%length1 : tensor<i64>) outs(%e35 : tensor<?xi64>) {
  ^bb0(%in36: i64, %acc37: i64):
    %at38 = linalg.index 0 : index
    %v39 = arith.index_cast %at38 : index to i64
    %v40 = arith.addi %v39, %in36 : i64
    linalg.yield %v40 : i64
  } -> tensor<?xi64>
  %e42 = tensor.empty(%keys) : tensor<?xi64>
  %t46 = linalg.generic {indexing_maps = [affine_map<(j) -> (j)>], iterator_types = ["parallel"]}
      outs(%e42 : tensor<?xi64>) {
  ^bb0(%acc43: i64):
    %at44 = linalg.index 0 : index
    %v45 = arith.index_cast %at44 : index to i64
    linalg.yield %v45 : i64
  } -> tensor<?xi64>
  %e47 = tensor.empty(%queries, %keys) : tensor<?x?xi1>
  %t56 = linalg.generic {indexing_maps = [affine_map<(i, j) -> (j)>, affine_map<(i, j) -> (i)>, affine_map<(i, j) -> (j)>, affine_map<(i, j) -> (i, j)>], iterator_types = ["parallel", "parallel"]}
      ins(%t34, %t41, %t46 : tensor<?xi1>, tensor<?xi64>, tensor<?xi64>) outs(%e47 : tensor<?x?xi1>) {
  ^bb0(%in48: i1, %in49: i64, %in50: i64, %acc51: i1):
    %v52 = arith.subi %in49, %in50 : i64
    %c53 = arith.constant 0 : i64
    %v54 = arith.cmpi sge, %v52, %c53 : i64
    %v55 = arith.andi %in48, %v54 : i1
    linalg.yield %v55 : i1
  } -> tensor<?x?xi1>
  %e57 = tensor.empty(%queries, %keys) : tensor<?x?xf16>
  %t61 = linalg.generic {indexing_maps = [affine_map<(j, i) -> (i, j)>, affine_map<(j, i) -> (i, j)>], iterator_types = ["parallel", "parallel"]}
      ins(%t56 : tensor<?x?xi1>) outs(%e57 : tensor<?x?xf16>) {
  ^bb0(%in58: i1, %acc59: f16):
    %v60 = arith.uitofp %in58 : i1 to f16
    linalg.yield %v60 : f16
  } -> tensor<?x?xf16>
  %e62 = tensor.empty(%queries) : tensor<?xi32>
  %t66 = linalg.generic {indexing_maps = [affine_map<(i) -> (i)>], iterator_types = ["parallel"]}
      outs(%e62 : tensor<?xi32>) {
  ^bb0(%acc63: i32):
    %at64 = linalg.index 0 : index
    %v65 = arith.index_cast %at64 : index to i32
    linalg.yield %v65 : i32
  } -> tensor<?xi32>
  %e67 = tensor.empty(%keys, %queries) : tensor<2x?x?xf16>
  %t85 = linalg.generic {indexing_maps = [affine_map<(A, j, i) -> (A, j, i)>, affine_map<(A, j, i) -> (A)>, affine_map<(A, j, i) -> (i)>, affine_map<(A, j, i) -> (A, j, i)>], iterator_types = ["parallel", "parallel", "parallel"]}
      ins(%turned26, %k27, %t66 : tensor<2x?x?xf16>, tensor<2xf16>, tensor<?xi32>) outs(%e67 : tensor<2x?x?xf16>) {
  ^bb0(%in68: f16, %in69: f16, %in70: i32, %acc71: f16):
    %at72 = linalg.index 1 : index
    %v73 = arith.index_cast %at72 : index to i32
    %v74 = arith.subi %in70, %v73 : i32
    %v75 = arith.sitofp %v74 : i32 to f16
    %v76 = arith.mulf %in69, %v75 : f16
    %v77 = arith.addf %in68, %v76 : f16
    %c78 = arith.constant 1.00000000e+00 : f16
    %c79 = arith.constant 1.00000000e+00 : f16
    %v80 = arith.negf %v77 : f16
    %v81 = math.exp %v80 : f16
    %v82 = arith.addf %c79, %v81 : f16
    %v83 = arith.divf %c78, %v82 : f16
    %v84 = arith.mulf %v77, %v83 : f16
    linalg.yield %v84 : f16
  } -> tensor<2x?x?xf16>
  %e86 = tensor.empty(%queries) : tensor<2x?xf16>
  %c87 = arith.constant 0xFC00 : f16
  %f88 = linalg.fill ins(%c87 : f16) outs(%e86 : tensor<2x?xf16>) -> tensor<2x?xf16>
  %r89 = linalg.reduce { arith.maximumf } ins(%t85 : tensor<2x?x?xf16>) outs(%f88 : tensor<2x?xf16>) dimensions = [1]
  %e90 = tensor.empty(%keys, %queries) : tensor<2x?x?xf16>
  %t96 = linalg.generic {indexing_maps = [affine_map<(A, j, i) -> (A, j, i)>, affine_map<(A, j, i) -> (A, i)>, affine_map<(A, j, i) -> (A, j, i)>], iterator_types = ["parallel", "parallel", "parallel"]}
      ins(%t85, %r89 : tensor<2x?x?xf16>, tensor<2x?xf16>) outs(%e90 : tensor<2x?x?xf16>) {
  ^bb0(%in91: f16, %in92: f16, %acc93: f16):
    %v94 = arith.subf %in91, %in92 : f16
    %v95 = math.exp %v94 : f16
    linalg.yield %v95 : f16
  } -> tensor<2x?x?xf16>
  %e97 = tensor.empty(%queries) : tensor<2x?xf16>
  %c98 = arith.constant 0.00000000e+00 : f16
  %f99 = linalg.fill ins(%c98 : f16) outs(%e97 : tensor<2x?xf16>) -> tensor<2x?xf16>
  %t103 = linalg.generic {indexing_maps = [affine_map<(A, i, j) -> (A, j, i)>, affine_map<(A, i, j) -> (A, i)>], iterator_types = ["parallel", "parallel", "reduction"]}
      ins(%t96 : tensor<2x?x?xf16>) outs(%f99 : tensor<2x?xf16>) {
  ^bb0(%in100: f16, %acc101: f16):
    %v102 = arith.addf %in100, %acc101 : f16
    linalg.yield %v102 : f16
  } -> tensor<2x?xf16>
  %e104 = tensor.empty(%queries, %keys) : tensor<?x?xi1>
  %t109 = linalg.generic {indexing_maps = [affine_map<(i, j) -> (i, j)>, affine_map<(i, j) -> (i, j)>], iterator_types = ["parallel", "parallel"]}
      ins(%t61 : tensor<?x?xf16>) outs(%e104 : tensor<?x?xi1>) {
  ^bb0(%in105: f16, %acc106: i1):
    %c107 = arith.constant 5.00000000e-01 : f16
    %v108 = arith.cmpf ogt, %in105, %c107 : f16
    linalg.yield %v108 : i1
  } -> tensor<?x?xi1>
  %e110 = tensor.empty(%queries, %keys) : tensor<?x?xf16>
  %t114 = linalg.generic {indexing_maps = [affine_map<(i, j) -> (i, j)>, affine_map<(i, j) -> (i, j)>], iterator_types = ["parallel", "parallel"]}
      ins(%t109 : tensor<?x?xi1>) outs(%e110 : tensor<?x?xf16>) {
  ^bb0(%in111: i1, %acc112: f16):
    %v113 = arith.uitofp %in111 : i1 to f16
    linalg.yield %v113 : f16
  } -> tensor<?x?xf16>
  %e115 = tensor.empty(%queries) : tensor<2x?xf16>
  %c116 = arith.constant 0.00000000e+00 : f16
  %f117 = linalg.fill ins(%c116 : f16) outs(%e115 : tensor<2x?xf16>) -> tensor<2x?xf16>
  %t127 = linalg.generic {indexing_maps = [affine_map<(A, i, j) -> (A, j, i)>, affine_map<(A, i, j) -> (A, i)>, affine_map<(A, i, j) -> (i, j)>, affine_map<(A, i, j) -> (A, i)>], iterator_types = ["parallel", "parallel", "reduction"]}
      ins(%t96, %t103, %t114 : tensor<2x?x?xf16>, tensor<2x?xf16>, tensor<?x?xf16>) outs(%f117 : tensor<2x?xf16>) {
  ^bb0(%in118: f16, %in119: f16, %in120: f16, %acc121: f16):
    %c122 = arith.constant 1.00000000e+00 : f16
    %v123 = arith.divf %c122, %in119 : f16
    %v124 = arith.mulf %in118, %v123 : f16
    %v125 = arith.mulf %v124, %in120 : f16
    %v126 = arith.addf %v125, %acc121 : f16
    linalg.yield %v126 : f16
  } -> tensor<2x?xf16>
  %e128 = tensor.empty(%queries, %keys) : tensor<2x?x?xf16>
  %t139 = linalg.generic {indexing_maps = [affine_map<(A, i, j) -> (A, j, i)>, affine_map<(A, i, j) -> (A, i)>, affine_map<(A, i, j) -> (i, j)>, affine_map<(A, i, j) -> (A, i)>, affine_map<(A, i, j) -> (A, i, j)>], iterator_types = ["parallel", "parallel", "parallel"]}
      ins(%t96, %t103, %t114, %t127 : tensor<2x?x?xf16>, tensor<2x?xf16>, tensor<?x?xf16>, tensor<2x?xf16>) outs(%e128 : tensor<2x?x?xf16>) {
  ^bb0(%in129: f16, %in130: f16, %in131: f16, %in132: f16, %acc133: f16):
    %c134 = arith.constant 1.00000000e+00 : f16
    %v135 = arith.divf %c134, %in130 : f16
    %v136 = arith.mulf %in129, %v135 : f16
    %v137 = arith.mulf %v136, %in131 : f16
    %v138 = arith.divf %v137, %in132 : f16
    linalg.yield %v138 : f16
  } -> tensor<2x?x?xf16>
  %e141 = tensor.empty(%keys) : tensor<2x?x8xf16>
  %turned142 = linalg.transpose ins(%flat14 : tensor<?x2x8xf16>) outs(%e141 : tensor<2x?x8xf16>) permutation = [1, 0, 2]
  %e144 = tensor.empty(%queries) : tensor<2x?x8xf16>
  %c145 = arith.constant 0.00000000e+00 : f16
  %f146 = linalg.fill ins(%c145 : f16) outs(%e144 : tensor<2x?x8xf16>) -> tensor<2x?x8xf16>
  %product147 = linalg.batch_matmul ins(%t139, %turned142 : tensor<2x?x?xf16>, tensor<2x?x8xf16>) outs(%f146 : tensor<2x?x8xf16>) -> tensor<2x?x8xf16>
  %e148 = tensor.empty(%queries) : tensor<8x?x2xf16>
  %turned149 = linalg.transpose ins(%product147 : tensor<2x?x8xf16>) outs(%e148 : tensor<8x?x2xf16>) permutation = [2, 1, 0]
  %e150 = tensor.empty(%queries) : tensor<?x2x8xf16>
  %t153 = linalg.generic {indexing_maps = [affine_map<(e, A, i) -> (e, i, A)>, affine_map<(e, A, i) -> (i, A, e)>], iterator_types = ["parallel", "parallel", "parallel"]}
      ins(%turned149 : tensor<8x?x2xf16>) outs(%e150 : tensor<?x2x8xf16>) {
  ^bb0(%in151: f16, %acc152: f16):
    linalg.yield %in151 : f16
  } -> tensor<?x2x8xf16>
  %flat154 = tensor.collapse_shape %t153 [[0], [1, 2]] : tensor<?x2x8xf16> into tensor<?x16xf16>
  return %flat154 : tensor<?x16xf16>
}
