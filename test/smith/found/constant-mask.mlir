// RUN: fovea-smith %s

// A mask that is a constant tensor crashed the compiler: it was read inside a body whose values become vectors.
//
// choices: batch=1 heads=2 depth=4 static=7 batch-size=1 queries=3 keys=5 mask0=20
// fused: 1
// masks: *
// input: q normal 1
// input: k normal 1
// input: v normal 1

func.func @forward(%q: tensor<1x2x3x4xf32> {fovea.name = "q"},
                   %k: tensor<1x2x5x4xf32> {fovea.name = "k"},
                   %v: tensor<1x2x5x4xf32> {fovea.name = "v"})
    -> (tensor<1x2x3x4xf32> {fovea.name = "output"})
    attributes {fovea.entry} {
  %e0 = tensor.empty() : tensor<1x2x3x5xf32>
  %c1 = arith.constant 0.00000000e+00 : f32
  %f2 = linalg.fill ins(%c1 : f32) outs(%e0 : tensor<1x2x3x5xf32>) -> tensor<1x2x3x5xf32>
  %product3 = linalg.contract indexing_maps = [affine_map<(b, h, i, j, d) -> (b, h, i, d)>, affine_map<(b, h, i, j, d) -> (b, h, j, d)>, affine_map<(b, h, i, j, d) -> (b, h, i, j)>]
      ins(%q, %k : tensor<1x2x3x4xf32>, tensor<1x2x5x4xf32>) outs(%f2 : tensor<1x2x3x5xf32>) -> tensor<1x2x3x5xf32>
  %k4 = arith.constant dense<[[false, false, false, true, true], [true, false, true, true, true], [false, false, true, false, false]]> : tensor<3x5xi1>
  %e5 = tensor.empty() : tensor<1x2x3x5xf32>
  %t13 = linalg.generic {indexing_maps = [affine_map<(b, h, i, j) -> (i, j)>, affine_map<(b, h, i, j) -> (b, h, i, j)>, affine_map<(b, h, i, j) -> (b, h, i, j)>], iterator_types = ["parallel", "parallel", "parallel", "parallel"]}
      ins(%k4, %product3 : tensor<3x5xi1>, tensor<1x2x3x5xf32>) outs(%e5 : tensor<1x2x3x5xf32>) {
  ^bb0(%in6: i1, %in7: f32, %acc8: f32):
    %c9 = arith.constant true
    %v10 = arith.xori %in6, %c9 : i1
    %c11 = arith.constant 0xFF800000 : f32
    %v12 = arith.select %v10, %c11, %in7 : f32
    linalg.yield %v12 : f32
  } -> tensor<1x2x3x5xf32>
  %e14 = tensor.empty() : tensor<1x2x3x5xf32>
  %p15 = linalg.softmax dimension(3) ins(%t13 : tensor<1x2x3x5xf32>) outs(%e14 : tensor<1x2x3x5xf32>) -> tensor<1x2x3x5xf32>
  %e16 = tensor.empty() : tensor<1x2x3x4xf32>
  %c17 = arith.constant 0.00000000e+00 : f32
  %f18 = linalg.fill ins(%c17 : f32) outs(%e16 : tensor<1x2x3x4xf32>) -> tensor<1x2x3x4xf32>
  %product19 = linalg.contract indexing_maps = [affine_map<(b, h, i, e, j) -> (b, h, i, j)>, affine_map<(b, h, i, e, j) -> (b, h, j, e)>, affine_map<(b, h, i, e, j) -> (b, h, i, e)>]
      ins(%p15, %v : tensor<1x2x3x5xf32>, tensor<1x2x5x4xf32>) outs(%f18 : tensor<1x2x3x4xf32>) -> tensor<1x2x3x4xf32>
  return %product19 : tensor<1x2x3x4xf32>
}
