// RUN: fovea-smith %s

// An activation joined with a product, where tiles do not cover both: plain loops did not know it.
//
// choices: type=1 upcast=2 batch=1 heads=3 depth=1 self=1 batch-size=2 queries=4 keys=4 merge=16 score-product=1 value-product=3 score-order=2 scale=6 rule0=5 rule1=9 mask0=5 mask1=12 apply=3 mask-form=3 softmax=4 shift=2 style=2 spelling=765512268
// fused: -1
// masks: causal? segment window
// size: batch 2 3
// size: length 4 8
// input: qkv normal 1
// input: segment1 documents 3

func.func @forward(%qkv: tensor<?x?x9xf16> {fovea.name = "qkv", fovea.dims = ["batch", "length"]},
                   %segment1: tensor<?x?xi32> {fovea.name = "segment1", fovea.dims = ["batch", "length"]})
    -> (tensor<?x3x?x1xf16> {fovea.name = "output", fovea.dims = ["batch", "length"]})
    attributes {fovea.entry} {
  %c0 = arith.constant 0 : index
  %batch = tensor.dim %qkv, %c0 : tensor<?x?x9xf16>
  %c1 = arith.constant 1 : index
  %length = tensor.dim %qkv, %c1 : tensor<?x?x9xf16>
  %part2 = tensor.extract_slice %qkv[0, 0, 0] [%batch, %length, 3] [1, 1, 1] : tensor<?x?x9xf16> to tensor<?x?x3xf16>
  %split3 = tensor.expand_shape %part2 [[0], [1], [2, 3]] output_shape [%batch, %length, 3, 1] : tensor<?x?x3xf16> into tensor<?x?x3x1xf16>
  %part4 = tensor.extract_slice %qkv[0, 0, 3] [%batch, %length, 3] [1, 1, 1] : tensor<?x?x9xf16> to tensor<?x?x3xf16>
  %split5 = tensor.expand_shape %part4 [[0], [1], [2, 3]] output_shape [%batch, %length, 3, 1] : tensor<?x?x3xf16> into tensor<?x?x3x1xf16>
  %part6 = tensor.extract_slice %qkv[0, 0, 6] [%batch, %length, 3] [1, 1, 1] : tensor<?x?x9xf16> to tensor<?x?x3xf16>
  %split7 = tensor.expand_shape %part6 [[0], [1], [2, 3]] output_shape [%batch, %length, 3, 1] : tensor<?x?x3xf16> into tensor<?x?x3x1xf16>
  %e8 = tensor.empty(%batch, %length, %length) : tensor<3x?x?x?xf16>
  %c9 = arith.constant 0.00000000e+00 : f16
  %f10 = linalg.fill ins(%c9 : f16) outs(%e8 : tensor<3x?x?x?xf16>) -> tensor<3x?x?x?xf16>
  %t16 = linalg.generic {indexing_maps = [affine_map<(h, b, i, j, d) -> (b, i, h, d)>, affine_map<(h, b, i, j, d) -> (b, j, h, d)>, affine_map<(h, b, i, j, d) -> (h, b, i, j)>], iterator_types = ["parallel", "parallel", "parallel", "parallel", "reduction"]}
      ins(%split3, %split5 : tensor<?x?x3x1xf16>, tensor<?x?x3x1xf16>) outs(%f10 : tensor<3x?x?x?xf16>) {
  ^bb0(%in11: f16, %in12: f16, %acc13: f16):
    %v14 = arith.mulf %in11, %in12 : f16
    %v15 = arith.addf %acc13, %v14 : f16
    linalg.yield %v15 : f16
  } -> tensor<3x?x?x?xf16>
  %e17 = tensor.empty(%length) : tensor<?xi32>
  %t21 = linalg.generic {indexing_maps = [affine_map<(i) -> (i)>], iterator_types = ["parallel"]}
      outs(%e17 : tensor<?xi32>) {
  ^bb0(%acc18: i32):
    %at19 = linalg.index 0 : index
    %v20 = arith.index_cast %at19 : index to i32
    linalg.yield %v20 : i32
  } -> tensor<?xi32>
  %e22 = tensor.empty(%length, %length) : tensor<?x?xi32>
  %t28 = linalg.generic {indexing_maps = [affine_map<(i, j) -> (i)>, affine_map<(i, j) -> (i, j)>], iterator_types = ["parallel", "parallel"]}
      ins(%t21 : tensor<?xi32>) outs(%e22 : tensor<?x?xi32>) {
  ^bb0(%in23: i32, %acc24: i32):
    %at25 = linalg.index 1 : index
    %v26 = arith.index_cast %at25 : index to i32
    %v27 = arith.subi %in23, %v26 : i32
    linalg.yield %v27 : i32
  } -> tensor<?x?xi32>
  %e29 = tensor.empty(%length, %length) : tensor<?x?xi32>
  %t33 = linalg.generic {indexing_maps = [affine_map<(i, j) -> (i, j)>, affine_map<(i, j) -> (i, j)>], iterator_types = ["parallel", "parallel"]}
      ins(%t28 : tensor<?x?xi32>) outs(%e29 : tensor<?x?xi32>) {
  ^bb0(%in30: i32, %acc31: i32):
    %v32 = math.absi %in30 : i32
    linalg.yield %v32 : i32
  } -> tensor<?x?xi32>
  %e34 = tensor.empty(%length, %length) : tensor<?x?xi1>
  %t39 = linalg.generic {indexing_maps = [affine_map<(i, j) -> (i, j)>, affine_map<(i, j) -> (i, j)>], iterator_types = ["parallel", "parallel"]}
      ins(%t33 : tensor<?x?xi32>) outs(%e34 : tensor<?x?xi1>) {
  ^bb0(%in35: i32, %acc36: i1):
    %c37 = arith.constant 3 : i32
    %v38 = arith.cmpi sle, %in35, %c37 : i32
    linalg.yield %v38 : i1
  } -> tensor<?x?xi1>
  %e40 = tensor.empty(%batch, %length, %length) : tensor<?x?x?xi1>
  %t45 = linalg.generic {indexing_maps = [affine_map<(b, j, i) -> (b, i)>, affine_map<(b, j, i) -> (b, j)>, affine_map<(b, j, i) -> (b, j, i)>], iterator_types = ["parallel", "parallel", "parallel"]}
      ins(%segment1, %segment1 : tensor<?x?xi32>, tensor<?x?xi32>) outs(%e40 : tensor<?x?x?xi1>) {
  ^bb0(%in41: i32, %in42: i32, %acc43: i1):
    %v44 = arith.cmpi eq, %in41, %in42 : i32
    linalg.yield %v44 : i1
  } -> tensor<?x?x?xi1>
  %e46 = tensor.empty(%batch, %length, %length) : tensor<?x?x?xi1>
  %t51 = linalg.generic {indexing_maps = [affine_map<(j, b, i) -> (i, j)>, affine_map<(j, b, i) -> (b, j, i)>, affine_map<(j, b, i) -> (b, i, j)>], iterator_types = ["parallel", "parallel", "parallel"]}
      ins(%t39, %t45 : tensor<?x?xi1>, tensor<?x?x?xi1>) outs(%e46 : tensor<?x?x?xi1>) {
  ^bb0(%in47: i1, %in48: i1, %acc49: i1):
    %v50 = arith.andi %in47, %in48 : i1
    linalg.yield %v50 : i1
  } -> tensor<?x?x?xi1>
  %e52 = tensor.empty(%batch, %length, %length) : tensor<?x?x?xi64>
  %t56 = linalg.generic {indexing_maps = [affine_map<(b, i, j) -> (b, i, j)>, affine_map<(b, i, j) -> (b, i, j)>], iterator_types = ["parallel", "parallel", "parallel"]}
      ins(%t51 : tensor<?x?x?xi1>) outs(%e52 : tensor<?x?x?xi64>) {
  ^bb0(%in53: i1, %acc54: i64):
    %v55 = arith.extui %in53 : i1 to i64
    linalg.yield %v55 : i64
  } -> tensor<?x?x?xi64>
  %e57 = tensor.empty(%batch, %length, %length) : tensor<?x3x?x?xf32>
  %t61 = linalg.generic {indexing_maps = [affine_map<(b, h, i, j) -> (h, b, i, j)>, affine_map<(b, h, i, j) -> (b, h, i, j)>], iterator_types = ["parallel", "parallel", "parallel", "parallel"]}
      ins(%t16 : tensor<3x?x?x?xf16>) outs(%e57 : tensor<?x3x?x?xf32>) {
  ^bb0(%in58: f16, %acc59: f32):
    %v60 = arith.extf %in58 : f16 to f32
    linalg.yield %v60 : f32
  } -> tensor<?x3x?x?xf32>
  %e62 = tensor.empty(%batch, %length, %length) : tensor<?x3x?x?xf32>
  %t69 = linalg.generic {indexing_maps = [affine_map<(b, h, i, j) -> (b, h, i, j)>, affine_map<(b, h, i, j) -> (b, h, i, j)>], iterator_types = ["parallel", "parallel", "parallel", "parallel"]}
      ins(%t61 : tensor<?x3x?x?xf32>) outs(%e62 : tensor<?x3x?x?xf32>) {
  ^bb0(%in63: f32, %acc64: f32):
    %c65 = arith.constant 1 : i64
    %v66 = arith.sitofp %c65 : i64 to f32
    %v67 = math.sqrt %v66 : f32
    %v68 = arith.divf %in63, %v67 : f32
    linalg.yield %v68 : f32
  } -> tensor<?x3x?x?xf32>
  %e70 = tensor.empty(%length) : tensor<?xi32>
  %t74 = linalg.generic {indexing_maps = [affine_map<(j) -> (j)>], iterator_types = ["parallel"]}
      outs(%e70 : tensor<?xi32>) {
  ^bb0(%acc71: i32):
    %at72 = linalg.index 0 : index
    %v73 = arith.index_cast %at72 : index to i32
    linalg.yield %v73 : i32
  } -> tensor<?xi32>
  %e75 = tensor.empty(%length) : tensor<?xi32>
  %t79 = linalg.generic {indexing_maps = [affine_map<(i) -> (i)>], iterator_types = ["parallel"]}
      outs(%e75 : tensor<?xi32>) {
  ^bb0(%acc76: i32):
    %at77 = linalg.index 0 : index
    %v78 = arith.index_cast %at77 : index to i32
    linalg.yield %v78 : i32
  } -> tensor<?xi32>
  %e80 = tensor.empty(%length, %length) : tensor<?x?xi1>
  %t87 = linalg.generic {indexing_maps = [affine_map<(i, j) -> (j)>, affine_map<(i, j) -> (i)>, affine_map<(i, j) -> (i, j)>], iterator_types = ["parallel", "parallel"]}
      ins(%t74, %t79 : tensor<?xi32>, tensor<?xi32>) outs(%e80 : tensor<?x?xi1>) {
  ^bb0(%in81: i32, %in82: i32, %acc83: i1):
    %v84 = arith.subi %in81, %in82 : i32
    %c85 = arith.constant 0 : i32
    %v86 = arith.cmpi slt, %v84, %c85 : i32
    linalg.yield %v86 : i1
  } -> tensor<?x?xi1>
  %e88 = tensor.empty(%length, %length) : tensor<?x?xi32>
  %t95 = linalg.generic {indexing_maps = [affine_map<(i, j) -> (j)>, affine_map<(i, j) -> (i)>, affine_map<(i, j) -> (i, j)>], iterator_types = ["parallel", "parallel"]}
      ins(%t74, %t79 : tensor<?xi32>, tensor<?xi32>) outs(%e88 : tensor<?x?xi32>) {
  ^bb0(%in89: i32, %in90: i32, %acc91: i32):
    %c92 = arith.constant 0 : i32
    %v93 = arith.subi %in89, %in90 : i32
    %v94 = arith.subi %c92, %v93 : i32
    linalg.yield %v94 : i32
  } -> tensor<?x?xi32>
  %e96 = tensor.empty(%length, %length) : tensor<?x?xf32>
  %t105 = linalg.generic {indexing_maps = [affine_map<(i, j) -> (i, j)>, affine_map<(i, j) -> (i, j)>, affine_map<(i, j) -> (j)>, affine_map<(i, j) -> (i)>, affine_map<(i, j) -> (i, j)>], iterator_types = ["parallel", "parallel"]}
      ins(%t87, %t95, %t74, %t79 : tensor<?x?xi1>, tensor<?x?xi32>, tensor<?xi32>, tensor<?xi32>) outs(%e96 : tensor<?x?xf32>) {
  ^bb0(%in97: i1, %in98: i32, %in99: i32, %in100: i32, %acc101: f32):
    %v102 = arith.subi %in99, %in100 : i32
    %v103 = arith.select %in97, %in98, %v102 : i32
    %v104 = arith.sitofp %v103 : i32 to f32
    linalg.yield %v104 : f32
  } -> tensor<?x?xf32>
  %e106 = tensor.empty(%length, %length) : tensor<?x?xf32>
  %t111 = linalg.generic {indexing_maps = [affine_map<(i, j) -> (i, j)>, affine_map<(i, j) -> (i, j)>], iterator_types = ["parallel", "parallel"]}
      ins(%t105 : tensor<?x?xf32>) outs(%e106 : tensor<?x?xf32>) {
  ^bb0(%in107: f32, %acc108: f32):
    %c109 = arith.constant 1.25000000e-01 : f32
    %v110 = arith.mulf %c109, %in107 : f32
    linalg.yield %v110 : f32
  } -> tensor<?x?xf32>
  %e112 = tensor.empty(%length, %batch, %length) : tensor<?x3x?x?xf32>
  %t117 = linalg.generic {indexing_maps = [affine_map<(j, h, b, i) -> (b, h, i, j)>, affine_map<(j, h, b, i) -> (i, j)>, affine_map<(j, h, b, i) -> (j, h, b, i)>], iterator_types = ["parallel", "parallel", "parallel", "parallel"]}
      ins(%t69, %t111 : tensor<?x3x?x?xf32>, tensor<?x?xf32>) outs(%e112 : tensor<?x3x?x?xf32>) {
  ^bb0(%in113: f32, %in114: f32, %acc115: f32):
    %v116 = arith.subf %in113, %in114 : f32
    linalg.yield %v116 : f32
  } -> tensor<?x3x?x?xf32>
  %e118 = tensor.empty(%batch, %length, %length) : tensor<?x3x?x?xf32>
  %t122 = linalg.generic {indexing_maps = [affine_map<(b, h, i, j) -> (j, h, b, i)>, affine_map<(b, h, i, j) -> (b, h, i, j)>], iterator_types = ["parallel", "parallel", "parallel", "parallel"]}
      ins(%t117 : tensor<?x3x?x?xf32>) outs(%e118 : tensor<?x3x?x?xf32>) {
  ^bb0(%in119: f32, %acc120: f32):
    %v121 = math.tanh %in119 : f32
    linalg.yield %v121 : f32
  } -> tensor<?x3x?x?xf32>
  %e123 = tensor.empty(%batch, %length, %length) : tensor<?x3x?x?xf32>
  %t127 = linalg.generic {indexing_maps = [affine_map<(b, h, i, j) -> (j, h, b, i)>, affine_map<(b, h, i, j) -> (b, h, i, j)>], iterator_types = ["parallel", "parallel", "parallel", "parallel"]}
      ins(%t117 : tensor<?x3x?x?xf32>) outs(%e123 : tensor<?x3x?x?xf32>) {
  ^bb0(%in124: f32, %acc125: f32):
    %v126 = math.tanh %in124 : f32
    linalg.yield %v126 : f32
  } -> tensor<?x3x?x?xf32>
  %e128 = tensor.empty(%batch, %length, %length) : tensor<?x3x?x?xf32>
  %t133 = linalg.generic {indexing_maps = [affine_map<(b, h, i, j) -> (b, h, i, j)>, affine_map<(b, h, i, j) -> (b, h, i, j)>, affine_map<(b, h, i, j) -> (b, h, i, j)>], iterator_types = ["parallel", "parallel", "parallel", "parallel"]}
      ins(%t122, %t127 : tensor<?x3x?x?xf32>, tensor<?x3x?x?xf32>) outs(%e128 : tensor<?x3x?x?xf32>) {
  ^bb0(%in129: f32, %in130: f32, %acc131: f32):
    %v132 = arith.mulf %in129, %in130 : f32
    linalg.yield %v132 : f32
  } -> tensor<?x3x?x?xf32>
  %e134 = tensor.empty(%batch, %length, %length) : tensor<?x3x?x?xf32>
  %t139 = linalg.generic {indexing_maps = [affine_map<(b, j, i, h) -> (b, h, i, j)>, affine_map<(b, j, i, h) -> (b, h, i, j)>], iterator_types = ["parallel", "parallel", "parallel", "parallel"]}
      ins(%t133 : tensor<?x3x?x?xf32>) outs(%e134 : tensor<?x3x?x?xf32>) {
  ^bb0(%in135: f32, %acc136: f32):
    %c137 = arith.constant 3.00000000e+00 : f32
    %v138 = arith.mulf %in135, %c137 : f32
    linalg.yield %v138 : f32
  } -> tensor<?x3x?x?xf32>
  %e140 = tensor.empty(%batch, %length, %length) : tensor<?x?x?xi1>
  %t145 = linalg.generic {indexing_maps = [affine_map<(b, i, j) -> (b, i, j)>, affine_map<(b, i, j) -> (b, i, j)>], iterator_types = ["parallel", "parallel", "parallel"]}
      ins(%t56 : tensor<?x?x?xi64>) outs(%e140 : tensor<?x?x?xi1>) {
  ^bb0(%in141: i64, %acc142: i1):
    %c143 = arith.constant 0 : i64
    %v144 = arith.cmpi ne, %in141, %c143 : i64
    linalg.yield %v144 : i1
  } -> tensor<?x?x?xi1>
  %e146 = tensor.empty(%batch, %length, %length) : tensor<?x?x?xf32>
  %t150 = linalg.generic {indexing_maps = [affine_map<(b, i, j) -> (b, i, j)>, affine_map<(b, i, j) -> (b, i, j)>], iterator_types = ["parallel", "parallel", "parallel"]}
      ins(%t145 : tensor<?x?x?xi1>) outs(%e146 : tensor<?x?x?xf32>) {
  ^bb0(%in147: i1, %acc148: f32):
    %v149 = arith.uitofp %in147 : i1 to f32
    linalg.yield %v149 : f32
  } -> tensor<?x?x?xf32>
  %e151 = tensor.empty(%batch, %length, %length) : tensor<?x?x?xf32>
  %t156 = linalg.generic {indexing_maps = [affine_map<(b, i, j) -> (b, i, j)>, affine_map<(b, i, j) -> (b, i, j)>], iterator_types = ["parallel", "parallel", "parallel"]}
      ins(%t150 : tensor<?x?x?xf32>) outs(%e151 : tensor<?x?x?xf32>) {
  ^bb0(%in152: f32, %acc153: f32):
    %c154 = arith.constant 1.00000000e+00 : f32
    %v155 = arith.subf %c154, %in152 : f32
    linalg.yield %v155 : f32
  } -> tensor<?x?x?xf32>
  %e157 = tensor.empty(%batch, %length, %length) : tensor<?x?x?xf32>
  %t162 = linalg.generic {indexing_maps = [affine_map<(b, i, j) -> (b, i, j)>, affine_map<(b, i, j) -> (b, i, j)>], iterator_types = ["parallel", "parallel", "parallel"]}
      ins(%t156 : tensor<?x?x?xf32>) outs(%e157 : tensor<?x?x?xf32>) {
  ^bb0(%in158: f32, %acc159: f32):
    %c160 = arith.constant -1.00000000e+09 : f32
    %v161 = arith.mulf %in158, %c160 : f32
    linalg.yield %v161 : f32
  } -> tensor<?x?x?xf32>
  %e163 = tensor.empty(%batch, %length, %length) : tensor<3x?x?x?xf32>
  %t171 = linalg.generic {indexing_maps = [affine_map<(h, b, i, j) -> (b, h, i, j)>, affine_map<(h, b, i, j) -> (b, i, j)>, affine_map<(h, b, i, j) -> (h, b, i, j)>], iterator_types = ["parallel", "parallel", "parallel", "parallel"]}
      ins(%t139, %t162 : tensor<?x3x?x?xf32>, tensor<?x?x?xf32>) outs(%e163 : tensor<3x?x?x?xf32>) {
  ^bb0(%in164: f32, %in165: f32, %acc166: f32):
    %v167 = arith.addf %in164, %in165 : f32
    %c168 = arith.constant 2.00000000e+00 : f32
    %v169 = arith.subf %v167, %c168 : f32
    %v170 = math.exp %v169 : f32
    linalg.yield %v170 : f32
  } -> tensor<3x?x?x?xf32>
  %e172 = tensor.empty(%batch, %length) : tensor<3x?x?xf32>
  %c173 = arith.constant 0.00000000e+00 : f32
  %f174 = linalg.fill ins(%c173 : f32) outs(%e172 : tensor<3x?x?xf32>) -> tensor<3x?x?xf32>
  %t178 = linalg.generic {indexing_maps = [affine_map<(b, i, h, j) -> (h, b, i, j)>, affine_map<(b, i, h, j) -> (h, b, i)>], iterator_types = ["parallel", "parallel", "parallel", "reduction"]}
      ins(%t171 : tensor<3x?x?x?xf32>) outs(%f174 : tensor<3x?x?xf32>) {
  ^bb0(%in175: f32, %acc176: f32):
    %v177 = arith.addf %in175, %acc176 : f32
    linalg.yield %v177 : f32
  } -> tensor<3x?x?xf32>
  %e179 = tensor.empty(%batch, %length) : tensor<3x?x?xf32>
  %t185 = linalg.generic {indexing_maps = [affine_map<(i, h, b) -> (h, b, i)>, affine_map<(i, h, b) -> (h, b, i)>], iterator_types = ["parallel", "parallel", "parallel"]}
      ins(%t178 : tensor<3x?x?xf32>) outs(%e179 : tensor<3x?x?xf32>) {
  ^bb0(%in180: f32, %acc181: f32):
    %c182 = arith.constant 2.00000000e+00 : f32
    %v183 = math.log %in180 : f32
    %v184 = arith.addf %c182, %v183 : f32
    linalg.yield %v184 : f32
  } -> tensor<3x?x?xf32>
  %e186 = tensor.empty(%batch, %length, %length) : tensor<?x3x?x?xf32>
  %t193 = linalg.generic {indexing_maps = [affine_map<(i, j, h, b) -> (b, h, i, j)>, affine_map<(i, j, h, b) -> (b, i, j)>, affine_map<(i, j, h, b) -> (h, b, i)>, affine_map<(i, j, h, b) -> (b, h, i, j)>], iterator_types = ["parallel", "parallel", "parallel", "parallel"]}
      ins(%t139, %t162, %t185 : tensor<?x3x?x?xf32>, tensor<?x?x?xf32>, tensor<3x?x?xf32>) outs(%e186 : tensor<?x3x?x?xf32>) {
  ^bb0(%in187: f32, %in188: f32, %in189: f32, %acc190: f32):
    %v191 = arith.addf %in187, %in188 : f32
    %v192 = arith.subf %v191, %in189 : f32
    linalg.yield %v192 : f32
  } -> tensor<?x3x?x?xf32>
  %e194 = tensor.empty(%batch, %length, %length) : tensor<?x?x3x?x1xf16>
  %t201 = linalg.generic {indexing_maps = [affine_map<(b, j, h, i, e) -> (b, h, i, j)>, affine_map<(b, j, h, i, e) -> (b, j, h, e)>, affine_map<(b, j, h, i, e) -> (b, j, h, i, e)>], iterator_types = ["parallel", "parallel", "parallel", "parallel", "parallel"]}
      ins(%t193, %split7 : tensor<?x3x?x?xf32>, tensor<?x?x3x1xf16>) outs(%e194 : tensor<?x?x3x?x1xf16>) {
  ^bb0(%in195: f32, %in196: f16, %acc197: f16):
    %v198 = math.exp %in195 : f32
    %v199 = arith.truncf %v198 : f32 to f16
    %v200 = arith.mulf %v199, %in196 : f16
    linalg.yield %v200 : f16
  } -> tensor<?x?x3x?x1xf16>
  %e202 = tensor.empty(%batch, %length) : tensor<?x3x?x1xf16>
  %c203 = arith.constant 0.00000000e+00 : f16
  %f204 = linalg.fill ins(%c203 : f16) outs(%e202 : tensor<?x3x?x1xf16>) -> tensor<?x3x?x1xf16>
  %r205 = linalg.reduce { arith.addf } ins(%t201 : tensor<?x?x3x?x1xf16>) outs(%f204 : tensor<?x3x?x1xf16>) dimensions = [1]
  return %r205 : tensor<?x3x?x1xf16>
}
