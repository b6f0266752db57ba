// RUN: fovea-smith %s

// Scores of rows of any length go through tanh twice.
//
// choices: type=2 upcast=2 batch=1 heads=3 depth=20 batch-size=3 queries=2 keys=3 layout-q=1 layout-k=1 layout-v=1 layout-out=1 merge=15 copies=1 score-product=1 scale=5 rule0=9 rule1=13 rule2=14 between=2 returns=3 style=3 negative=7 spelling=279766768
// fused: 0
// masks:
// size: batch 3 8
// size: keys 3 8
// size: queries 2 6
// input: q normal 1
// input: k normal 1
// input: v normal 1
// input: table1 normal 1

func.func @forward(%q: tensor<?x?x60xbf16> {fovea.name = "q", fovea.dims = ["batch", "queries"]},
                   %k: tensor<?x?x60xbf16> {fovea.name = "k", fovea.dims = ["batch", "keys"]},
                   %v: tensor<?x?x60xbf16> {fovea.name = "v", fovea.dims = ["batch", "keys"]},
                   %table1: tensor<5x3xbf16> {fovea.name = "table1"})
    -> (tensor<?x?x60xbf16> {fovea.name = "output", fovea.dims = ["batch", "queries"]}, tensor<?x3x?x?xbf16> {fovea.name = "weights", fovea.dims = ["batch", "queries", "keys"]}, tensor<?x3x?x?xf32> {fovea.name = "scores", fovea.dims = ["batch", "queries", "keys"]})
    attributes {fovea.entry} {
  %c0 = arith.constant 0 : index
  %batch = tensor.dim %q, %c0 : tensor<?x?x60xbf16>
  %c1 = arith.constant 1 : index
  %queries = tensor.dim %q, %c1 : tensor<?x?x60xbf16>
  %split2 = tensor.expand_shape %q [[0], [1], [2, 3]] output_shape [%batch, %queries, 3, 20] : tensor<?x?x60xbf16> into tensor<?x?x3x20xbf16>
  %e3 = tensor.empty(%batch, %queries) : tensor<?x3x?x20xbf16>
  %turned4 = linalg.transpose ins(%split2 : tensor<?x?x3x20xbf16>) outs(%e3 : tensor<?x3x?x20xbf16>) permutation = [0, 2, 1, 3]
  %c5 = arith.constant 1 : index
  %keys = tensor.dim %k, %c5 : tensor<?x?x60xbf16>
  %split6 = tensor.expand_shape %k [[0], [1], [2, 3]] output_shape [%batch, %keys, 3, 20] : tensor<?x?x60xbf16> into tensor<?x?x3x20xbf16>
  %e7 = tensor.empty(%batch, %keys) : tensor<?x3x?x20xbf16>
  %turned8 = linalg.transpose ins(%split6 : tensor<?x?x3x20xbf16>) outs(%e7 : tensor<?x3x?x20xbf16>) permutation = [0, 2, 1, 3]
  %split9 = tensor.expand_shape %v [[0], [1], [2, 3]] output_shape [%batch, %keys, 3, 20] : tensor<?x?x60xbf16> into tensor<?x?x3x20xbf16>
  %e10 = tensor.empty(%batch, %keys) : tensor<?x3x?x20xbf16>
  %turned11 = linalg.transpose ins(%split9 : tensor<?x?x3x20xbf16>) outs(%e10 : tensor<?x3x?x20xbf16>) permutation = [0, 2, 1, 3]
  %e12 = tensor.empty(%batch, %queries, %keys) : tensor<?x3x?x?xbf16>
  %c13 = arith.constant 0.00000000e+00 : bf16
  %f14 = linalg.fill ins(%c13 : bf16) outs(%e12 : tensor<?x3x?x?xbf16>) -> tensor<?x3x?x?xbf16>
  %t20 = linalg.generic {indexing_maps = [affine_map<(b, h, i, j, d) -> (b, h, i, d)>, affine_map<(b, h, i, j, d) -> (b, h, j, d)>, affine_map<(b, h, i, j, d) -> (b, h, i, j)>], iterator_types = ["parallel", "parallel", "parallel", "parallel", "reduction"]}
      ins(%turned4, %turned8 : tensor<?x3x?x20xbf16>, tensor<?x3x?x20xbf16>) outs(%f14 : tensor<?x3x?x?xbf16>) {
  ^bb0(%in15: bf16, %in16: bf16, %acc17: bf16):
    %v18 = arith.mulf %in15, %in16 : bf16
    %v19 = arith.addf %acc17, %v18 : bf16
    linalg.yield %v19 : bf16
  } -> tensor<?x3x?x?xbf16>
  %e21 = tensor.empty(%batch, %queries, %keys) : tensor<?x3x?x?xf32>
  %c22 = arith.constant 1.00000000e+00 : f32
  %f23 = linalg.fill ins(%c22 : f32) outs(%e21 : tensor<?x3x?x?xf32>) -> tensor<?x3x?x?xf32>
  %e24 = tensor.empty(%keys, %batch, %queries) : tensor<?x?x3x?xbf16>
  %t27 = linalg.generic {indexing_maps = [affine_map<(j, b, h, i) -> (b, h, i, j)>, affine_map<(j, b, h, i) -> (j, b, h, i)>], iterator_types = ["parallel", "parallel", "parallel", "parallel"]}
      ins(%t20 : tensor<?x3x?x?xbf16>) outs(%e24 : tensor<?x?x3x?xbf16>) {
  ^bb0(%in25: bf16, %acc26: bf16):
    linalg.yield %in25 : bf16
  } -> tensor<?x?x3x?xbf16>
  %w28 = arith.extf %t27 : tensor<?x?x3x?xbf16> to tensor<?x?x3x?xf32>
  %e29 = tensor.empty(%queries, %keys, %batch) : tensor<?x?x?x3xf32>
  %t32 = linalg.generic {indexing_maps = [affine_map<(i, j, b, h) -> (j, b, h, i)>, affine_map<(i, j, b, h) -> (i, j, b, h)>], iterator_types = ["parallel", "parallel", "parallel", "parallel"]}
      ins(%w28 : tensor<?x?x3x?xf32>) outs(%e29 : tensor<?x?x?x3xf32>) {
  ^bb0(%in30: f32, %acc31: f32):
    linalg.yield %in30 : f32
  } -> tensor<?x?x?x3xf32>
  %e33 = tensor.empty(%queries, %keys, %batch) : tensor<?x?x?x3xf32>
  %c34 = arith.constant 4.47213595e+00 : f32
  %f35 = linalg.fill ins(%c34 : f32) outs(%e33 : tensor<?x?x?x3xf32>) -> tensor<?x?x?x3xf32>
  %w36 = arith.divf %t32, %f35 : tensor<?x?x?x3xf32>
  %e37 = tensor.empty(%batch, %queries, %keys) : tensor<?x3x?x?xf32>
  %t40 = linalg.generic {indexing_maps = [affine_map<(b, h, i, j) -> (i, j, b, h)>, affine_map<(b, h, i, j) -> (b, h, i, j)>], iterator_types = ["parallel", "parallel", "parallel", "parallel"]}
      ins(%w36 : tensor<?x?x?x3xf32>) outs(%e37 : tensor<?x3x?x?xf32>) {
  ^bb0(%in38: f32, %acc39: f32):
    linalg.yield %in38 : f32
  } -> tensor<?x3x?x?xf32>
  %w41 = math.tanh %t40 : tensor<?x3x?x?xf32>
  %e42 = tensor.empty(%batch, %queries, %keys) : tensor<?x3x?x?xf32>
  %t45 = linalg.generic {indexing_maps = [affine_map<(b, h, i, j) -> (i, j, b, h)>, affine_map<(b, h, i, j) -> (b, h, i, j)>], iterator_types = ["parallel", "parallel", "parallel", "parallel"]}
      ins(%w36 : tensor<?x?x?x3xf32>) outs(%e42 : tensor<?x3x?x?xf32>) {
  ^bb0(%in43: f32, %acc44: f32):
    linalg.yield %in43 : f32
  } -> tensor<?x3x?x?xf32>
  %w46 = math.tanh %t45 : tensor<?x3x?x?xf32>
  %w47 = arith.mulf %w41, %w46 : tensor<?x3x?x?xf32>
  %e48 = tensor.empty(%batch, %queries, %keys) : tensor<?x3x?x?xf32>
  %c49 = arith.constant 3.00000000e+00 : f32
  %f50 = linalg.fill ins(%c49 : f32) outs(%e48 : tensor<?x3x?x?xf32>) -> tensor<?x3x?x?xf32>
  %w51 = arith.mulf %w47, %f50 : tensor<?x3x?x?xf32>
  %e52 = tensor.empty(%keys) : tensor<?xi64>
  %t56 = linalg.generic {indexing_maps = [affine_map<(j) -> (j)>], iterator_types = ["parallel"]}
      outs(%e52 : tensor<?xi64>) {
  ^bb0(%acc53: i64):
    %at54 = linalg.index 0 : index
    %v55 = arith.index_cast %at54 : index to i64
    linalg.yield %v55 : i64
  } -> tensor<?xi64>
  %e57 = tensor.empty(%queries) : tensor<?xi64>
  %t61 = linalg.generic {indexing_maps = [affine_map<(i) -> (i)>], iterator_types = ["parallel"]}
      outs(%e57 : tensor<?xi64>) {
  ^bb0(%acc58: i64):
    %at59 = linalg.index 0 : index
    %v60 = arith.index_cast %at59 : index to i64
    linalg.yield %v60 : i64
  } -> tensor<?xi64>
  %e62 = tensor.empty(%queries, %keys) : tensor<?x?xi64>
  %wide63 = linalg.broadcast ins(%t56 : tensor<?xi64>) outs(%e62 : tensor<?x?xi64>) dimensions = [0]
  %e64 = tensor.empty(%queries, %keys) : tensor<?x?xi64>
  %wide65 = linalg.broadcast ins(%t61 : tensor<?xi64>) outs(%e64 : tensor<?x?xi64>) dimensions = [1]
  %w66 = arith.subi %wide63, %wide65 : tensor<?x?xi64>
  %e67 = tensor.empty(%queries, %keys) : tensor<?x?xi64>
  %c68 = arith.constant -2 : i64
  %f69 = linalg.fill ins(%c68 : i64) outs(%e67 : tensor<?x?xi64>) -> tensor<?x?xi64>
  %w70 = arith.maxsi %w66, %f69 : tensor<?x?xi64>
  %e71 = tensor.empty(%queries, %keys) : tensor<?x?xi64>
  %c72 = arith.constant 2 : i64
  %f73 = linalg.fill ins(%c72 : i64) outs(%e71 : tensor<?x?xi64>) -> tensor<?x?xi64>
  %w74 = arith.minsi %w70, %f73 : tensor<?x?xi64>
  %e75 = tensor.empty(%queries, %keys) : tensor<?x?xi64>
  %c76 = arith.constant 2 : i64
  %f77 = linalg.fill ins(%c76 : i64) outs(%e75 : tensor<?x?xi64>) -> tensor<?x?xi64>
  %w78 = arith.addi %w74, %f77 : tensor<?x?xi64>
  %e79 = tensor.empty(%queries, %keys) : tensor<3x?x?xbf16>
  %t85 = linalg.generic {indexing_maps = [affine_map<(j, i, h) -> (i, j)>, affine_map<(j, i, h) -> (h, i, j)>], iterator_types = ["parallel", "parallel", "parallel"]}
      ins(%w78 : tensor<?x?xi64>) outs(%e79 : tensor<3x?x?xbf16>) {
  ^bb0(%in80: i64, %acc81: bf16):
    %v82 = arith.index_cast %in80 : i64 to index
    %at83 = linalg.index 2 : index
    %read84 = tensor.extract %table1[%v82, %at83] : tensor<5x3xbf16>
    linalg.yield %read84 : bf16
  } -> tensor<3x?x?xbf16>
  %w86 = arith.extf %t85 : tensor<3x?x?xbf16> to tensor<3x?x?xf32>
  %e87 = tensor.empty(%batch, %queries, %keys) : tensor<?x3x?x?xf32>
  %wide88 = linalg.broadcast ins(%w86 : tensor<3x?x?xf32>) outs(%e87 : tensor<?x3x?x?xf32>) dimensions = [0]
  %w89 = arith.addf %w51, %wide88 : tensor<?x3x?x?xf32>
  %e90 = tensor.empty(%queries, %keys) : tensor<?x?xi64>
  %t96 = linalg.generic {indexing_maps = [affine_map<(i, j) -> (i, j)>], iterator_types = ["parallel", "parallel"]}
      outs(%e90 : tensor<?x?xi64>) {
  ^bb0(%acc91: i64):
    %at92 = linalg.index 0 : index
    %at93 = linalg.index 1 : index
    %v94 = arith.subi %at92, %at93 : index
    %v95 = arith.index_cast %v94 : index to i64
    linalg.yield %v95 : i64
  } -> tensor<?x?xi64>
  %w97 = arith.sitofp %t96 : tensor<?x?xi64> to tensor<?x?xf32>
  %e98 = tensor.empty(%queries, %keys) : tensor<?x?xf32>
  %c99 = arith.constant 3.12500000e-02 : f32
  %f100 = linalg.fill ins(%c99 : f32) outs(%e98 : tensor<?x?xf32>) -> tensor<?x?xf32>
  %w101 = arith.mulf %w97, %f100 : tensor<?x?xf32>
  %e102 = tensor.empty(%batch, %queries, %keys) : tensor<?x3x?x?xf32>
  %wide103 = linalg.broadcast ins(%w101 : tensor<?x?xf32>) outs(%e102 : tensor<?x3x?x?xf32>) dimensions = [0, 1]
  %w104 = arith.maximumf %w89, %wide103 : tensor<?x3x?x?xf32>
  %e105 = tensor.empty(%queries, %keys) : tensor<?x?xi64>
  %t111 = linalg.generic {indexing_maps = [affine_map<(i, j) -> (i, j)>], iterator_types = ["parallel", "parallel"]}
      outs(%e105 : tensor<?x?xi64>) {
  ^bb0(%acc106: i64):
    %at107 = linalg.index 0 : index
    %at108 = linalg.index 1 : index
    %v109 = arith.subi %at107, %at108 : index
    %v110 = arith.index_cast %v109 : index to i64
    linalg.yield %v110 : i64
  } -> tensor<?x?xi64>
  %w112 = arith.sitofp %t111 : tensor<?x?xi64> to tensor<?x?xf32>
  %e113 = tensor.empty(%queries, %keys) : tensor<?x?xf32>
  %c114 = arith.constant 3.12500000e-02 : f32
  %f115 = linalg.fill ins(%c114 : f32) outs(%e113 : tensor<?x?xf32>) -> tensor<?x?xf32>
  %w116 = arith.mulf %w112, %f115 : tensor<?x?xf32>
  %e117 = tensor.empty(%queries, %keys) : tensor<?x?xi64>
  %t123 = linalg.generic {indexing_maps = [affine_map<(i, j) -> (i, j)>], iterator_types = ["parallel", "parallel"]}
      outs(%e117 : tensor<?x?xi64>) {
  ^bb0(%acc118: i64):
    %at119 = linalg.index 0 : index
    %at120 = linalg.index 1 : index
    %v121 = arith.subi %at119, %at120 : index
    %v122 = arith.index_cast %v121 : index to i64
    linalg.yield %v122 : i64
  } -> tensor<?x?xi64>
  %w124 = arith.sitofp %t123 : tensor<?x?xi64> to tensor<?x?xf32>
  %e125 = tensor.empty(%queries, %keys) : tensor<?x?xf32>
  %c126 = arith.constant 3.12500000e-02 : f32
  %f127 = linalg.fill ins(%c126 : f32) outs(%e125 : tensor<?x?xf32>) -> tensor<?x?xf32>
  %w128 = arith.mulf %w124, %f127 : tensor<?x?xf32>
  %w129 = arith.maximumf %w116, %w128 : tensor<?x?xf32>
  %e130 = tensor.empty(%batch, %queries, %keys) : tensor<?x3x?x?xf32>
  %wide131 = linalg.broadcast ins(%w129 : tensor<?x?xf32>) outs(%e130 : tensor<?x3x?x?xf32>) dimensions = [0, 1]
  %w132 = arith.maximumf %w104, %wide131 : tensor<?x3x?x?xf32>
  %e133 = tensor.empty(%queries, %keys) : tensor<?x?xi64>
  %t139 = linalg.generic {indexing_maps = [affine_map<(i, j) -> (i, j)>], iterator_types = ["parallel", "parallel"]}
      outs(%e133 : tensor<?x?xi64>) {
  ^bb0(%acc134: i64):
    %at135 = linalg.index 0 : index
    %at136 = linalg.index 1 : index
    %v137 = arith.subi %at135, %at136 : index
    %v138 = arith.index_cast %v137 : index to i64
    linalg.yield %v138 : i64
  } -> tensor<?x?xi64>
  %w140 = arith.sitofp %t139 : tensor<?x?xi64> to tensor<?x?xf32>
  %e141 = tensor.empty(%queries, %keys) : tensor<?x?xf32>
  %c142 = arith.constant 3.12500000e-02 : f32
  %f143 = linalg.fill ins(%c142 : f32) outs(%e141 : tensor<?x?xf32>) -> tensor<?x?xf32>
  %w144 = arith.mulf %w140, %f143 : tensor<?x?xf32>
  %w145 = math.absf %w89 : tensor<?x3x?x?xf32>
  %e146 = tensor.empty(%batch, %queries, %keys) : tensor<?x3x?x?xf32>
  %c147 = arith.constant 1.00000000e+00 : f32
  %f148 = linalg.fill ins(%c147 : f32) outs(%e146 : tensor<?x3x?x?xf32>) -> tensor<?x3x?x?xf32>
  %w149 = arith.addf %f148, %w145 : tensor<?x3x?x?xf32>
  %e150 = tensor.empty(%batch, %queries, %keys) : tensor<?x3x?x?xf32>
  %wide151 = linalg.broadcast ins(%w144 : tensor<?x?xf32>) outs(%e150 : tensor<?x3x?x?xf32>) dimensions = [0, 1]
  %w152 = arith.divf %wide151, %w149 : tensor<?x3x?x?xf32>
  %e153 = tensor.empty(%queries, %keys) : tensor<?x?xi64>
  %t159 = linalg.generic {indexing_maps = [affine_map<(i, j) -> (i, j)>], iterator_types = ["parallel", "parallel"]}
      outs(%e153 : tensor<?x?xi64>) {
  ^bb0(%acc154: i64):
    %at155 = linalg.index 0 : index
    %at156 = linalg.index 1 : index
    %v157 = arith.subi %at155, %at156 : index
    %v158 = arith.index_cast %v157 : index to i64
    linalg.yield %v158 : i64
  } -> tensor<?x?xi64>
  %w160 = arith.sitofp %t159 : tensor<?x?xi64> to tensor<?x?xf32>
  %e161 = tensor.empty(%queries, %keys) : tensor<?x?xf32>
  %c162 = arith.constant 3.12500000e-02 : f32
  %f163 = linalg.fill ins(%c162 : f32) outs(%e161 : tensor<?x?xf32>) -> tensor<?x?xf32>
  %w164 = arith.mulf %w160, %f163 : tensor<?x?xf32>
  %w165 = math.absf %w164 : tensor<?x?xf32>
  %e166 = tensor.empty(%batch, %queries, %keys) : tensor<?x3x?x?xf32>
  %wide167 = linalg.broadcast ins(%w165 : tensor<?x?xf32>) outs(%e166 : tensor<?x3x?x?xf32>) dimensions = [0, 1]
  %w168 = arith.minimumf %w152, %wide167 : tensor<?x3x?x?xf32>
  %w169 = arith.minimumf %w132, %w168 : tensor<?x3x?x?xf32>
  %e170 = tensor.empty(%queries, %batch, %keys) : tensor<?x3x?x?xf32>
  %t173 = linalg.generic {indexing_maps = [affine_map<(i, h, b, j) -> (b, h, i, j)>, affine_map<(i, h, b, j) -> (i, h, b, j)>], iterator_types = ["parallel", "parallel", "parallel", "parallel"]}
      ins(%w89 : tensor<?x3x?x?xf32>) outs(%e170 : tensor<?x3x?x?xf32>) {
  ^bb0(%in171: f32, %acc172: f32):
    linalg.yield %in171 : f32
  } -> tensor<?x3x?x?xf32>
  %e174 = tensor.empty(%queries, %batch, %keys) : tensor<?x3x?x?xf32>
  %c175 = arith.constant 5.00000000e-01 : f32
  %f176 = linalg.fill ins(%c175 : f32) outs(%e174 : tensor<?x3x?x?xf32>) -> tensor<?x3x?x?xf32>
  %w177 = arith.mulf %t173, %f176 : tensor<?x3x?x?xf32>
  %e178 = tensor.empty(%batch, %queries, %keys) : tensor<?x3x?x?xf32>
  %t181 = linalg.generic {indexing_maps = [affine_map<(b, h, i, j) -> (i, h, b, j)>, affine_map<(b, h, i, j) -> (b, h, i, j)>], iterator_types = ["parallel", "parallel", "parallel", "parallel"]}
      ins(%w177 : tensor<?x3x?x?xf32>) outs(%e178 : tensor<?x3x?x?xf32>) {
  ^bb0(%in179: f32, %acc180: f32):
    linalg.yield %in179 : f32
  } -> tensor<?x3x?x?xf32>
  %w182 = arith.addf %w169, %t181 : tensor<?x3x?x?xf32>
  %w183 = arith.negf %w182 : tensor<?x3x?x?xf32>
  %w184 = math.exp %w183 : tensor<?x3x?x?xf32>
  %e185 = tensor.empty(%batch, %queries, %keys) : tensor<?x3x?x?xf32>
  %c186 = arith.constant 1.00000000e+00 : f32
  %f187 = linalg.fill ins(%c186 : f32) outs(%e185 : tensor<?x3x?x?xf32>) -> tensor<?x3x?x?xf32>
  %w188 = arith.addf %f187, %w184 : tensor<?x3x?x?xf32>
  %e189 = tensor.empty(%batch, %queries, %keys) : tensor<?x3x?x?xf32>
  %c190 = arith.constant 1.00000000e+00 : f32
  %f191 = linalg.fill ins(%c190 : f32) outs(%e189 : tensor<?x3x?x?xf32>) -> tensor<?x3x?x?xf32>
  %w192 = arith.divf %f191, %w188 : tensor<?x3x?x?xf32>
  %w193 = arith.mulf %w192, %f23 : tensor<?x3x?x?xf32>
  %w194 = arith.truncf %w193 : tensor<?x3x?x?xf32> to tensor<?x3x?x?xbf16>
  %e195 = tensor.empty(%batch, %queries) : tensor<?x3x?x20xbf16>
  %c196 = arith.constant 0.00000000e+00 : bf16
  %f197 = linalg.fill ins(%c196 : bf16) outs(%e195 : tensor<?x3x?x20xbf16>) -> tensor<?x3x?x20xbf16>
  %product198 = linalg.contract indexing_maps = [affine_map<(b, h, i, e, j) -> (b, h, i, j)>, affine_map<(b, h, i, e, j) -> (b, h, j, e)>, affine_map<(b, h, i, e, j) -> (b, h, i, e)>]
      ins(%w194, %turned11 : tensor<?x3x?x?xbf16>, tensor<?x3x?x20xbf16>) outs(%f197 : tensor<?x3x?x20xbf16>) -> tensor<?x3x?x20xbf16>
  %e199 = tensor.empty(%batch, %queries) : tensor<?x?x3x20xbf16>
  %t202 = linalg.generic {indexing_maps = [affine_map<(b, i, h, e) -> (b, h, i, e)>, affine_map<(b, i, h, e) -> (b, i, h, e)>], iterator_types = ["parallel", "parallel", "parallel", "parallel"]}
      ins(%product198 : tensor<?x3x?x20xbf16>) outs(%e199 : tensor<?x?x3x20xbf16>) {
  ^bb0(%in200: bf16, %acc201: bf16):
    linalg.yield %in200 : bf16
  } -> tensor<?x?x3x20xbf16>
  %flat203 = tensor.collapse_shape %t202 [[0], [1], [2, 3]] : tensor<?x?x3x20xbf16> into tensor<?x?x60xbf16>
  %e204 = tensor.empty(%batch, %queries, %keys) : tensor<?x3x?x?xf32>
  %t207 = linalg.generic {indexing_maps = [affine_map<(b, h, i, j) -> (i, j, b, h)>, affine_map<(b, h, i, j) -> (b, h, i, j)>], iterator_types = ["parallel", "parallel", "parallel", "parallel"]}
      ins(%w36 : tensor<?x?x?x3xf32>) outs(%e204 : tensor<?x3x?x?xf32>) {
  ^bb0(%in205: f32, %acc206: f32):
    linalg.yield %in205 : f32
  } -> tensor<?x3x?x?xf32>
  return %flat203, %w194, %t207 : tensor<?x?x60xbf16>, tensor<?x3x?x?xbf16>, tensor<?x3x?x?xf32>
}
