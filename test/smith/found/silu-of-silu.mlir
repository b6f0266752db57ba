// RUN: fovea-smith %s

// Scores of rows of any length go through silu twice.
//
// choices: batch=2 depth=3 self=1 batch-size=2 queries=2 keys=2 layout-q=2 layout-k=2 layout-v=2 layout-out=2 copies=1 score-product=3 value-product=1 scale=6 rule1=8 rule2=8 softmax=1 style=3 negative=6 spelling=327815970
// fused: 0
// masks:
// size: batch 2 8
// size: length 2 4
// size: windows 2 3
// input: q normal 1
// input: k normal 1
// input: v normal 1

func.func @forward(%q: tensor<?x?x3x?xf32> {fovea.name = "q", fovea.dims = ["batch", "windows", "length"]},
                   %k: tensor<?x?x3x?xf32> {fovea.name = "k", fovea.dims = ["batch", "windows", "length"]},
                   %v: tensor<?x?x3x?xf32> {fovea.name = "v", fovea.dims = ["batch", "windows", "length"]})
    -> (tensor<?x?x3x?xf32> {fovea.name = "output", fovea.dims = ["batch", "windows", "length"]})
    attributes {fovea.entry} {
  %c0 = arith.constant 0 : index
  %batch = tensor.dim %q, %c0 : tensor<?x?x3x?xf32>
  %c1 = arith.constant 1 : index
  %windows = tensor.dim %q, %c1 : tensor<?x?x3x?xf32>
  %c2 = arith.constant 3 : index
  %length = tensor.dim %q, %c2 : tensor<?x?x3x?xf32>
  %e3 = tensor.empty(%batch, %windows, %length) : tensor<?x?x?x3xf32>
  %turned4 = linalg.transpose ins(%q : tensor<?x?x3x?xf32>) outs(%e3 : tensor<?x?x?x3xf32>) permutation = [0, 1, 3, 2]
  %e5 = tensor.empty(%batch, %windows, %length) : tensor<?x?x?x3xf32>
  %turned6 = linalg.transpose ins(%k : tensor<?x?x3x?xf32>) outs(%e5 : tensor<?x?x?x3xf32>) permutation = [0, 1, 3, 2]
  %e7 = tensor.empty(%batch, %windows, %length) : tensor<?x?x?x3xf32>
  %t10 = linalg.generic {indexing_maps = [affine_map<(b, c, j, e) -> (b, c, e, j)>, affine_map<(b, c, j, e) -> (b, c, j, e)>], iterator_types = ["parallel", "parallel", "parallel", "parallel"]}
      ins(%v : tensor<?x?x3x?xf32>) outs(%e7 : tensor<?x?x?x3xf32>) {
  ^bb0(%in8: f32, %acc9: f32):
    linalg.yield %in8 : f32
  } -> tensor<?x?x?x3xf32>
  %e11 = tensor.empty(%batch, %windows, %length, %length) : tensor<?x?x?x?xf32>
  %c12 = arith.constant 0.00000000e+00 : f32
  %f13 = linalg.fill ins(%c12 : f32) outs(%e11 : tensor<?x?x?x?xf32>) -> tensor<?x?x?x?xf32>
  %t19 = linalg.generic {indexing_maps = [affine_map<(b, c, i, j, d) -> (b, c, i, d)>, affine_map<(b, c, i, j, d) -> (b, c, j, d)>, affine_map<(b, c, i, j, d) -> (b, c, i, j)>], iterator_types = ["parallel", "parallel", "parallel", "parallel", "reduction"]}
      ins(%turned4, %turned6 : tensor<?x?x?x3xf32>, tensor<?x?x?x3xf32>) outs(%f13 : tensor<?x?x?x?xf32>) {
  ^bb0(%in14: f32, %in15: f32, %acc16: f32):
    %v17 = arith.mulf %in14, %in15 : f32
    %v18 = arith.addf %acc16, %v17 : f32
    linalg.yield %v18 : f32
  } -> tensor<?x?x?x?xf32>
  %e20 = tensor.empty(%batch, %windows, %length, %length) : tensor<?x?x?x?xf32>
  %t27 = linalg.generic {indexing_maps = [affine_map<(i, b, c, j) -> (b, c, i, j)>, affine_map<(i, b, c, j) -> (b, c, i, j)>], iterator_types = ["parallel", "parallel", "parallel", "parallel"]}
      ins(%t19 : tensor<?x?x?x?xf32>) outs(%e20 : tensor<?x?x?x?xf32>) {
  ^bb0(%in21: f32, %acc22: f32):
    %c23 = arith.constant 3 : i64
    %v24 = arith.sitofp %c23 : i64 to f32
    %v25 = math.sqrt %v24 : f32
    %v26 = arith.divf %in21, %v25 : f32
    linalg.yield %v26 : f32
  } -> tensor<?x?x?x?xf32>
  %w28 = arith.negf %t27 : tensor<?x?x?x?xf32>
  %w29 = math.exp %w28 : tensor<?x?x?x?xf32>
  %e30 = tensor.empty(%batch, %windows, %length, %length) : tensor<?x?x?x?xf32>
  %c31 = arith.constant 1.00000000e+00 : f32
  %f32 = linalg.fill ins(%c31 : f32) outs(%e30 : tensor<?x?x?x?xf32>) -> tensor<?x?x?x?xf32>
  %w33 = arith.addf %f32, %w29 : tensor<?x?x?x?xf32>
  %e34 = tensor.empty(%batch, %length, %length, %windows) : tensor<?x?x?x?xf32>
  %c35 = arith.constant 1.00000000e+00 : f32
  %f36 = linalg.fill ins(%c35 : f32) outs(%e34 : tensor<?x?x?x?xf32>) -> tensor<?x?x?x?xf32>
  %e37 = tensor.empty(%batch, %length, %length, %windows) : tensor<?x?x?x?xf32>
  %t40 = linalg.generic {indexing_maps = [affine_map<(b, i, j, c) -> (b, c, i, j)>, affine_map<(b, i, j, c) -> (b, i, j, c)>], iterator_types = ["parallel", "parallel", "parallel", "parallel"]}
      ins(%w33 : tensor<?x?x?x?xf32>) outs(%e37 : tensor<?x?x?x?xf32>) {
  ^bb0(%in38: f32, %acc39: f32):
    linalg.yield %in38 : f32
  } -> tensor<?x?x?x?xf32>
  %w41 = arith.divf %f36, %t40 : tensor<?x?x?x?xf32>
  %e42 = tensor.empty(%batch, %windows, %length, %length) : tensor<?x?x?x?xf32>
  %t45 = linalg.generic {indexing_maps = [affine_map<(b, c, i, j) -> (b, i, j, c)>, affine_map<(b, c, i, j) -> (b, c, i, j)>], iterator_types = ["parallel", "parallel", "parallel", "parallel"]}
      ins(%w41 : tensor<?x?x?x?xf32>) outs(%e42 : tensor<?x?x?x?xf32>) {
  ^bb0(%in43: f32, %acc44: f32):
    linalg.yield %in43 : f32
  } -> tensor<?x?x?x?xf32>
  %w46 = arith.mulf %t27, %t45 : tensor<?x?x?x?xf32>
  %w47 = arith.negf %w46 : tensor<?x?x?x?xf32>
  %w48 = math.exp %w47 : tensor<?x?x?x?xf32>
  %e49 = tensor.empty(%batch, %windows, %length, %length) : tensor<?x?x?x?xf32>
  %c50 = arith.constant 1.00000000e+00 : f32
  %f51 = linalg.fill ins(%c50 : f32) outs(%e49 : tensor<?x?x?x?xf32>) -> tensor<?x?x?x?xf32>
  %w52 = arith.addf %f51, %w48 : tensor<?x?x?x?xf32>
  %e53 = tensor.empty(%batch, %windows, %length, %length) : tensor<?x?x?x?xf32>
  %c54 = arith.constant 1.00000000e+00 : f32
  %f55 = linalg.fill ins(%c54 : f32) outs(%e53 : tensor<?x?x?x?xf32>) -> tensor<?x?x?x?xf32>
  %w56 = arith.divf %f55, %w52 : tensor<?x?x?x?xf32>
  %w57 = arith.mulf %w46, %w56 : tensor<?x?x?x?xf32>
  %e58 = tensor.empty(%batch, %windows, %length) : tensor<?x?x?xf32>
  %c59 = arith.constant 0xFF800000 : f32
  %f60 = linalg.fill ins(%c59 : f32) outs(%e58 : tensor<?x?x?xf32>) -> tensor<?x?x?xf32>
  %r61 = linalg.reduce { arith.maximumf } ins(%w57 : tensor<?x?x?x?xf32>) outs(%f60 : tensor<?x?x?xf32>) dimensions = [3]
  %e62 = tensor.empty(%batch, %windows, %length, %length) : tensor<?x?x?x?xf32>
  %wide63 = linalg.broadcast ins(%r61 : tensor<?x?x?xf32>) outs(%e62 : tensor<?x?x?x?xf32>) dimensions = [3]
  %w64 = arith.subf %w57, %wide63 : tensor<?x?x?x?xf32>
  %w65 = math.exp %w64 : tensor<?x?x?x?xf32>
  %e66 = tensor.empty(%batch, %windows, %length) : tensor<?x?x?xf32>
  %c67 = arith.constant 0.00000000e+00 : f32
  %f68 = linalg.fill ins(%c67 : f32) outs(%e66 : tensor<?x?x?xf32>) -> tensor<?x?x?xf32>
  %t72 = linalg.generic {indexing_maps = [affine_map<(b, c, j, i) -> (b, c, i, j)>, affine_map<(b, c, j, i) -> (b, c, j)>], iterator_types = ["parallel", "parallel", "parallel", "reduction"]}
      ins(%w65 : tensor<?x?x?x?xf32>) outs(%f68 : tensor<?x?x?xf32>) {
  ^bb0(%in69: f32, %acc70: f32):
    %v71 = arith.addf %acc70, %in69 : f32
    linalg.yield %v71 : f32
  } -> tensor<?x?x?xf32>
  %e73 = tensor.empty(%batch, %windows, %length, %length) : tensor<?x?x?x?xf32>
  %wide74 = linalg.broadcast ins(%t72 : tensor<?x?x?xf32>) outs(%e73 : tensor<?x?x?x?xf32>) dimensions = [2]
  %w75 = arith.divf %w65, %wide74 : tensor<?x?x?x?xf32>
  %e76 = tensor.empty(%batch, %windows, %length) : tensor<?x?x?x3xf32>
  %c77 = arith.constant 0.00000000e+00 : f32
  %f78 = linalg.fill ins(%c77 : f32) outs(%e76 : tensor<?x?x?x3xf32>) -> tensor<?x?x?x3xf32>
  %t84 = linalg.generic {indexing_maps = [affine_map<(b, j, i, e, c) -> (b, c, i, j)>, affine_map<(b, j, i, e, c) -> (b, c, j, e)>, affine_map<(b, j, i, e, c) -> (b, c, i, e)>], iterator_types = ["parallel", "reduction", "parallel", "parallel", "parallel"]}
      ins(%w75, %t10 : tensor<?x?x?x?xf32>, tensor<?x?x?x3xf32>) outs(%f78 : tensor<?x?x?x3xf32>) {
  ^bb0(%in79: f32, %in80: f32, %acc81: f32):
    %v82 = arith.mulf %in79, %in80 : f32
    %v83 = arith.addf %acc81, %v82 : f32
    linalg.yield %v83 : f32
  } -> tensor<?x?x?x3xf32>
  %e85 = tensor.empty(%batch, %windows, %length) : tensor<?x?x3x?xf32>
  %turned86 = linalg.transpose ins(%t84 : tensor<?x?x?x3xf32>) outs(%e85 : tensor<?x?x3x?xf32>) permutation = [0, 1, 3, 2]
  return %turned86 : tensor<?x?x3x?xf32>
}
