// RUN: fovea-smith %s

// A product with one was folded, and its group left empty.
//
// choices: type=1 batch=1 heads=2 depth=1 value-depth=6 static=7 batch-size=2 queries=4 keys=7 layout-q=2 layout-k=3 layout-v=7 layout-out=4 copies=1 score-product=3 value-product=1 scale=4 rule0=6 rule2=11 mask0=13 mask1=15 apply=5 mask-form=1 softmax=1 norm=2 style=3 spelling=654696858
// fused: -1
// masks: *
// input: q normal 1
// input: k normal 1
// input: v normal 1
// input: mask1 keep 65 first

func.func @forward(%q: tensor<2x2x1x4xf16> {fovea.name = "q"},
                   %k: tensor<7x2x2x1xf16> {fovea.name = "k"},
                   %v: tensor<2x2x6x7xf16> {fovea.name = "v"},
                   %mask1: tensor<2x7xi1> {fovea.name = "mask1"})
    -> (tensor<2x2x4x6xf16> {fovea.name = "output"})
    attributes {fovea.entry} {
  %e0 = tensor.empty() : tensor<2x2x4x1xf16>
  %t3 = linalg.generic {indexing_maps = [affine_map<(b, h, i, d) -> (b, h, d, i)>, affine_map<(b, h, i, d) -> (b, h, i, d)>], iterator_types = ["parallel", "parallel", "parallel", "parallel"]}
      ins(%q : tensor<2x2x1x4xf16>) outs(%e0 : tensor<2x2x4x1xf16>) {
  ^bb0(%in1: f16, %acc2: f16):
    linalg.yield %in1 : f16
  } -> tensor<2x2x4x1xf16>
  %e4 = tensor.empty() : tensor<2x2x7x1xf16>
  %turned5 = linalg.transpose ins(%k : tensor<7x2x2x1xf16>) outs(%e4 : tensor<2x2x7x1xf16>) permutation = [1, 2, 0, 3]
  %e6 = tensor.empty() : tensor<2x2x7x6xf16>
  %t9 = linalg.generic {indexing_maps = [affine_map<(b, h, j, e) -> (b, h, e, j)>, affine_map<(b, h, j, e) -> (b, h, j, e)>], iterator_types = ["parallel", "parallel", "parallel", "parallel"]}
      ins(%v : tensor<2x2x6x7xf16>) outs(%e6 : tensor<2x2x7x6xf16>) {
  ^bb0(%in7: f16, %acc8: f16):
    linalg.yield %in7 : f16
  } -> tensor<2x2x7x6xf16>
  %e10 = tensor.empty() : tensor<2x2x4x1xf16>
  %c11 = arith.constant 1.00000000e+00 : f16
  %f12 = linalg.fill ins(%c11 : f16) outs(%e10 : tensor<2x2x4x1xf16>) -> tensor<2x2x4x1xf16>
  %w13 = arith.mulf %t3, %f12 : tensor<2x2x4x1xf16>
  %e14 = tensor.empty() : tensor<2x2x7x1xf16>
  %c15 = arith.constant 1.00000000e+00 : f16
  %f16 = linalg.fill ins(%c15 : f16) outs(%e14 : tensor<2x2x7x1xf16>) -> tensor<2x2x7x1xf16>
  %w17 = arith.mulf %f16, %turned5 : tensor<2x2x7x1xf16>
  %e18 = tensor.empty() : tensor<2x2x1x4x7xf16>
  %t21 = linalg.generic {indexing_maps = [affine_map<(b, h, d, i, j) -> (b, h, i, d)>, affine_map<(b, h, d, i, j) -> (b, h, d, i, j)>], iterator_types = ["parallel", "parallel", "parallel", "parallel", "parallel"]}
      ins(%w13 : tensor<2x2x4x1xf16>) outs(%e18 : tensor<2x2x1x4x7xf16>) {
  ^bb0(%in19: f16, %acc20: f16):
    linalg.yield %in19 : f16
  } -> tensor<2x2x1x4x7xf16>
  %e22 = tensor.empty() : tensor<2x2x1x4x7xf16>
  %t25 = linalg.generic {indexing_maps = [affine_map<(b, h, d, i, j) -> (b, h, j, d)>, affine_map<(b, h, d, i, j) -> (b, h, d, i, j)>], iterator_types = ["parallel", "parallel", "parallel", "parallel", "parallel"]}
      ins(%w17 : tensor<2x2x7x1xf16>) outs(%e22 : tensor<2x2x1x4x7xf16>) {
  ^bb0(%in23: f16, %acc24: f16):
    linalg.yield %in23 : f16
  } -> tensor<2x2x1x4x7xf16>
  %w26 = arith.mulf %t21, %t25 : tensor<2x2x1x4x7xf16>
  %e27 = tensor.empty() : tensor<2x2x4x7xf16>
  %c28 = arith.constant 0.00000000e+00 : f16
  %f29 = linalg.fill ins(%c28 : f16) outs(%e27 : tensor<2x2x4x7xf16>) -> tensor<2x2x4x7xf16>
  %r30 = linalg.reduce { arith.addf } ins(%w26 : tensor<2x2x1x4x7xf16>) outs(%f29 : tensor<2x2x4x7xf16>) dimensions = [2]
  %e31 = tensor.empty() : tensor<7xi32>
  %t35 = linalg.generic {indexing_maps = [affine_map<(j) -> (j)>], iterator_types = ["parallel"]}
      outs(%e31 : tensor<7xi32>) {
  ^bb0(%acc32: i32):
    %at33 = linalg.index 0 : index
    %v34 = arith.index_cast %at33 : index to i32
    linalg.yield %v34 : i32
  } -> tensor<7xi32>
  %e36 = tensor.empty() : tensor<7xi32>
  %c37 = arith.constant 3 : i32
  %f38 = linalg.fill ins(%c37 : i32) outs(%e36 : tensor<7xi32>) -> tensor<7xi32>
  %w39 = arith.cmpi slt, %t35, %f38 : tensor<7xi32>
  %e40 = tensor.empty() : tensor<4xi32>
  %t44 = linalg.generic {indexing_maps = [affine_map<(i) -> (i)>], iterator_types = ["parallel"]}
      outs(%e40 : tensor<4xi32>) {
  ^bb0(%acc41: i32):
    %at42 = linalg.index 0 : index
    %v43 = arith.index_cast %at42 : index to i32
    linalg.yield %v43 : i32
  } -> tensor<4xi32>
  %e45 = tensor.empty() : tensor<4xi32>
  %c46 = arith.constant 3 : i32
  %f47 = linalg.fill ins(%c46 : i32) outs(%e45 : tensor<4xi32>) -> tensor<4xi32>
  %w48 = arith.cmpi slt, %t44, %f47 : tensor<4xi32>
  %e49 = tensor.empty() : tensor<4x7xi1>
  %wide50 = linalg.broadcast ins(%w39 : tensor<7xi1>) outs(%e49 : tensor<4x7xi1>) dimensions = [0]
  %e51 = tensor.empty() : tensor<4x7xi1>
  %wide52 = linalg.broadcast ins(%w48 : tensor<4xi1>) outs(%e51 : tensor<4x7xi1>) dimensions = [1]
  %w53 = arith.ori %wide50, %wide52 : tensor<4x7xi1>
  %e54 = tensor.empty() : tensor<2x4x7xi1>
  %wide55 = linalg.broadcast ins(%w53 : tensor<4x7xi1>) outs(%e54 : tensor<2x4x7xi1>) dimensions = [0]
  %e56 = tensor.empty() : tensor<2x4x7xi1>
  %wide57 = linalg.broadcast ins(%mask1 : tensor<2x7xi1>) outs(%e56 : tensor<2x4x7xi1>) dimensions = [1]
  %w58 = arith.andi %wide55, %wide57 : tensor<2x4x7xi1>
  %e59 = tensor.empty() : tensor<2x4x7xf16>
  %c60 = arith.constant 0.00000000e+00 : f16
  %f61 = linalg.fill ins(%c60 : f16) outs(%e59 : tensor<2x4x7xf16>) -> tensor<2x4x7xf16>
  %e62 = tensor.empty() : tensor<2x4x7xf16>
  %c63 = arith.constant -6.00000000e+04 : f16
  %f64 = linalg.fill ins(%c63 : f16) outs(%e62 : tensor<2x4x7xf16>) -> tensor<2x4x7xf16>
  %w65 = arith.select %w58, %f61, %f64 : tensor<2x4x7xi1>, tensor<2x4x7xf16>
  %e66 = tensor.empty() : tensor<2x2x4x7xf16>
  %c67 = arith.constant 2.50000000e-01 : f16
  %f68 = linalg.fill ins(%c67 : f16) outs(%e66 : tensor<2x2x4x7xf16>) -> tensor<2x2x4x7xf16>
  %w69 = arith.mulf %r30, %f68 : tensor<2x2x4x7xf16>
  %e70 = tensor.empty() : tensor<4x7x2x2xf16>
  %t73 = linalg.generic {indexing_maps = [affine_map<(i, j, b, h) -> (b, h, i, j)>, affine_map<(i, j, b, h) -> (i, j, b, h)>], iterator_types = ["parallel", "parallel", "parallel", "parallel"]}
      ins(%r30 : tensor<2x2x4x7xf16>) outs(%e70 : tensor<4x7x2x2xf16>) {
  ^bb0(%in71: f16, %acc72: f16):
    linalg.yield %in71 : f16
  } -> tensor<4x7x2x2xf16>
  %e74 = tensor.empty() : tensor<4x7x2x2xf16>
  %t77 = linalg.generic {indexing_maps = [affine_map<(j, i, b, h) -> (b, h, i, j)>, affine_map<(j, i, b, h) -> (i, j, b, h)>], iterator_types = ["parallel", "parallel", "parallel", "parallel"]}
      ins(%w69 : tensor<2x2x4x7xf16>) outs(%e74 : tensor<4x7x2x2xf16>) {
  ^bb0(%in75: f16, %acc76: f16):
    linalg.yield %in75 : f16
  } -> tensor<4x7x2x2xf16>
  %w78 = arith.maximumf %t73, %t77 : tensor<4x7x2x2xf16>
  %e79 = tensor.empty() : tensor<4xi64>
  %t83 = linalg.generic {indexing_maps = [affine_map<(i) -> (i)>], iterator_types = ["parallel"]}
      outs(%e79 : tensor<4xi64>) {
  ^bb0(%acc80: i64):
    %at81 = linalg.index 0 : index
    %v82 = arith.index_cast %at81 : index to i64
    linalg.yield %v82 : i64
  } -> tensor<4xi64>
  %e84 = tensor.empty() : tensor<7xi64>
  %t88 = linalg.generic {indexing_maps = [affine_map<(j) -> (j)>], iterator_types = ["parallel"]}
      outs(%e84 : tensor<7xi64>) {
  ^bb0(%acc85: i64):
    %at86 = linalg.index 0 : index
    %v87 = arith.index_cast %at86 : index to i64
    linalg.yield %v87 : i64
  } -> tensor<7xi64>
  %e89 = tensor.empty() : tensor<4x7xi64>
  %wide90 = linalg.broadcast ins(%t83 : tensor<4xi64>) outs(%e89 : tensor<4x7xi64>) dimensions = [1]
  %e91 = tensor.empty() : tensor<4x7xi64>
  %wide92 = linalg.broadcast ins(%t88 : tensor<7xi64>) outs(%e91 : tensor<4x7xi64>) dimensions = [0]
  %w93 = arith.subi %wide90, %wide92 : tensor<4x7xi64>
  %e94 = tensor.empty() : tensor<4x7xi64>
  %c95 = arith.constant 0 : i64
  %f96 = linalg.fill ins(%c95 : i64) outs(%e94 : tensor<4x7xi64>) -> tensor<4x7xi64>
  %w97 = arith.cmpi slt, %w93, %f96 : tensor<4x7xi64>
  %e98 = tensor.empty() : tensor<4x7xi64>
  %c99 = arith.constant 0 : i64
  %f100 = linalg.fill ins(%c99 : i64) outs(%e98 : tensor<4x7xi64>) -> tensor<4x7xi64>
  %w101 = arith.subi %f100, %w93 : tensor<4x7xi64>
  %w102 = arith.select %w97, %w101, %w93 : tensor<4x7xi1>, tensor<4x7xi64>
  %w103 = arith.sitofp %w102 : tensor<4x7xi64> to tensor<4x7xf16>
  %e104 = tensor.empty() : tensor<4x7xf16>
  %c105 = arith.constant 1.00000000e+00 : f16
  %f106 = linalg.fill ins(%c105 : f16) outs(%e104 : tensor<4x7xf16>) -> tensor<4x7xf16>
  %w107 = arith.addf %w103, %f106 : tensor<4x7xf16>
  %w108 = math.log %w107 : tensor<4x7xf16>
  %e109 = tensor.empty() : tensor<2x2x4x7xf16>
  %t112 = linalg.generic {indexing_maps = [affine_map<(b, h, i, j) -> (i, j, b, h)>, affine_map<(b, h, i, j) -> (b, h, i, j)>], iterator_types = ["parallel", "parallel", "parallel", "parallel"]}
      ins(%w78 : tensor<4x7x2x2xf16>) outs(%e109 : tensor<2x2x4x7xf16>) {
  ^bb0(%in110: f16, %acc111: f16):
    linalg.yield %in110 : f16
  } -> tensor<2x2x4x7xf16>
  %e113 = tensor.empty() : tensor<2x2x4x7xf16>
  %wide114 = linalg.broadcast ins(%w108 : tensor<4x7xf16>) outs(%e113 : tensor<2x2x4x7xf16>) dimensions = [0, 1]
  %w115 = arith.subf %t112, %wide114 : tensor<2x2x4x7xf16>
  %e116 = tensor.empty() : tensor<2x2x4x7xf16>
  %wide117 = linalg.broadcast ins(%w65 : tensor<2x4x7xf16>) outs(%e116 : tensor<2x2x4x7xf16>) dimensions = [0]
  %w118 = arith.addf %wide117, %w115 : tensor<2x2x4x7xf16>
  %e119 = tensor.empty() : tensor<2x2x4xf16>
  %c120 = arith.constant 0xFC00 : f16
  %f121 = linalg.fill ins(%c120 : f16) outs(%e119 : tensor<2x2x4xf16>) -> tensor<2x2x4xf16>
  %r122 = linalg.reduce { arith.maxnumf } ins(%w118 : tensor<2x2x4x7xf16>) outs(%f121 : tensor<2x2x4xf16>) dimensions = [3]
  %e123 = tensor.empty() : tensor<7x2x4x2xf16>
  %t126 = linalg.generic {indexing_maps = [affine_map<(j, b, i, h) -> (h, i, j)>, affine_map<(j, b, i, h) -> (j, b, i, h)>], iterator_types = ["parallel", "parallel", "parallel", "parallel"]}
      ins(%w65 : tensor<2x4x7xf16>) outs(%e123 : tensor<7x2x4x2xf16>) {
  ^bb0(%in124: f16, %acc125: f16):
    linalg.yield %in124 : f16
  } -> tensor<7x2x4x2xf16>
  %e127 = tensor.empty() : tensor<7x2x4x2xf16>
  %t130 = linalg.generic {indexing_maps = [affine_map<(j, b, i, h) -> (b, h, i, j)>, affine_map<(j, b, i, h) -> (j, b, i, h)>], iterator_types = ["parallel", "parallel", "parallel", "parallel"]}
      ins(%w115 : tensor<2x2x4x7xf16>) outs(%e127 : tensor<7x2x4x2xf16>) {
  ^bb0(%in128: f16, %acc129: f16):
    linalg.yield %in128 : f16
  } -> tensor<7x2x4x2xf16>
  %w131 = arith.addf %t126, %t130 : tensor<7x2x4x2xf16>
  %e132 = tensor.empty() : tensor<2x2x4x7xf16>
  %t135 = linalg.generic {indexing_maps = [affine_map<(b, h, i, j) -> (j, b, i, h)>, affine_map<(b, h, i, j) -> (b, h, i, j)>], iterator_types = ["parallel", "parallel", "parallel", "parallel"]}
      ins(%w131 : tensor<7x2x4x2xf16>) outs(%e132 : tensor<2x2x4x7xf16>) {
  ^bb0(%in133: f16, %acc134: f16):
    linalg.yield %in133 : f16
  } -> tensor<2x2x4x7xf16>
  %e136 = tensor.empty() : tensor<2x2x4x7xf16>
  %wide137 = linalg.broadcast ins(%r122 : tensor<2x2x4xf16>) outs(%e136 : tensor<2x2x4x7xf16>) dimensions = [3]
  %w138 = arith.subf %t135, %wide137 : tensor<2x2x4x7xf16>
  %e139 = tensor.empty() : tensor<2x7x2x4xf16>
  %t142 = linalg.generic {indexing_maps = [affine_map<(b, j, h, i) -> (b, h, i, j)>, affine_map<(b, j, h, i) -> (b, j, h, i)>], iterator_types = ["parallel", "parallel", "parallel", "parallel"]}
      ins(%w138 : tensor<2x2x4x7xf16>) outs(%e139 : tensor<2x7x2x4xf16>) {
  ^bb0(%in140: f16, %acc141: f16):
    linalg.yield %in140 : f16
  } -> tensor<2x7x2x4xf16>
  %w143 = math.exp %t142 : tensor<2x7x2x4xf16>
  %e144 = tensor.empty() : tensor<2x2x4xf16>
  %c145 = arith.constant 0.00000000e+00 : f16
  %f146 = linalg.fill ins(%c145 : f16) outs(%e144 : tensor<2x2x4xf16>) -> tensor<2x2x4xf16>
  %r147 = linalg.reduce { arith.addf } ins(%w143 : tensor<2x7x2x4xf16>) outs(%f146 : tensor<2x2x4xf16>) dimensions = [1]
  %w148 = math.exp %w138 : tensor<2x2x4x7xf16>
  %e149 = tensor.empty() : tensor<2x2x4x6xf16>
  %c150 = arith.constant 0.00000000e+00 : f16
  %f151 = linalg.fill ins(%c150 : f16) outs(%e149 : tensor<2x2x4x6xf16>) -> tensor<2x2x4x6xf16>
  %t157 = linalg.generic {indexing_maps = [affine_map<(b, h, i, e, j) -> (b, h, i, j)>, affine_map<(b, h, i, e, j) -> (b, h, j, e)>, affine_map<(b, h, i, e, j) -> (b, h, i, e)>], iterator_types = ["parallel", "parallel", "parallel", "parallel", "reduction"]}
      ins(%w148, %t9 : tensor<2x2x4x7xf16>, tensor<2x2x7x6xf16>) outs(%f151 : tensor<2x2x4x6xf16>) {
  ^bb0(%in152: f16, %in153: f16, %acc154: f16):
    %v155 = arith.mulf %in152, %in153 : f16
    %v156 = arith.addf %v155, %acc154 : f16
    linalg.yield %v156 : f16
  } -> tensor<2x2x4x6xf16>
  %e158 = tensor.empty() : tensor<2x2x4x6xf16>
  %wide159 = linalg.broadcast ins(%r147 : tensor<2x2x4xf16>) outs(%e158 : tensor<2x2x4x6xf16>) dimensions = [3]
  %w160 = arith.divf %t157, %wide159 : tensor<2x2x4x6xf16>
  %e161 = tensor.empty() : tensor<2x2x4x6xf16>
  %turned162 = linalg.transpose ins(%w160 : tensor<2x2x4x6xf16>) outs(%e161 : tensor<2x2x4x6xf16>) permutation = [1, 0, 2, 3]
  return %turned162 : tensor<2x2x4x6xf16>
}
