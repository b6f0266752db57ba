// RUN: fovea-smith %s

// Values without an axis of their own that are widened within the product.
//
// choices: type=1 upcast=3 depth=2 value-depth=1 static=1 batch-size=1 queries=5 keys=6 value-product=3 mask0=1 spelling=1
// fused: 1
// masks: causal
// size: keys 6 11
// size: queries 5 6
// input: q normal 1
// input: k normal 1
// input: v normal 1

func.func @forward(%q: tensor<?x2xf16> {fovea.name = "q", fovea.dims = ["queries"]},
                   %k: tensor<?x2xf16> {fovea.name = "k", fovea.dims = ["keys"]},
                   %v: tensor<?x1xf16> {fovea.name = "v", fovea.dims = ["keys"]})
    -> (tensor<?x1xf16> {fovea.name = "output", fovea.dims = ["queries"]})
    attributes {fovea.entry} {
  %c0 = arith.constant 0 : index
  %queries = tensor.dim %q, %c0 : tensor<?x2xf16>
  %c1 = arith.constant 0 : index
  %keys = tensor.dim %k, %c1 : tensor<?x2xf16>
  %e2 = tensor.empty(%queries) : tensor<?x2xf32>
  %t6 = linalg.generic {indexing_maps = [affine_map<(d, i) -> (i, d)>, affine_map<(d, i) -> (i, d)>], iterator_types = ["parallel", "parallel"]}
      ins(%q : tensor<?x2xf16>) outs(%e2 : tensor<?x2xf32>) {
  ^bb0(%in3: f16, %acc4: f32):
    %v5 = arith.extf %in3 : f16 to f32
    linalg.yield %v5 : f32
  } -> tensor<?x2xf32>
  %e7 = tensor.empty(%keys) : tensor<?x2xf32>
  %t11 = linalg.generic {indexing_maps = [affine_map<(j, d) -> (j, d)>, affine_map<(j, d) -> (j, d)>], iterator_types = ["parallel", "parallel"]}
      ins(%k : tensor<?x2xf16>) outs(%e7 : tensor<?x2xf32>) {
  ^bb0(%in8: f16, %acc9: f32):
    %v10 = arith.extf %in8 : f16 to f32
    linalg.yield %v10 : f32
  } -> tensor<?x2xf32>
  %e12 = tensor.empty(%queries, %keys) : tensor<?x?xf32>
  %c13 = arith.constant 0.00000000e+00 : f32
  %f14 = linalg.fill ins(%c13 : f32) outs(%e12 : tensor<?x?xf32>) -> tensor<?x?xf32>
  %product15 = linalg.contract indexing_maps = [affine_map<(i, j, d) -> (i, d)>, affine_map<(i, j, d) -> (j, d)>, affine_map<(i, j, d) -> (i, j)>]
      ins(%t6, %t11 : tensor<?x2xf32>, tensor<?x2xf32>) outs(%f14 : tensor<?x?xf32>) -> tensor<?x?xf32>
  %e16 = tensor.empty(%queries, %keys) : tensor<?x?xf32>
  %t28 = linalg.generic {indexing_maps = [affine_map<(i, j) -> (i, j)>, affine_map<(i, j) -> (i, j)>], iterator_types = ["parallel", "parallel"]}
      ins(%product15 : tensor<?x?xf32>) outs(%e16 : tensor<?x?xf32>) {
  ^bb0(%in17: f32, %acc18: f32):
    %at19 = linalg.index 0 : index
    %v20 = arith.index_cast %at19 : index to i32
    %at21 = linalg.index 1 : index
    %v22 = arith.index_cast %at21 : index to i32
    %v23 = arith.subi %v20, %v22 : i32
    %c24 = arith.constant 0 : i32
    %v25 = arith.cmpi sge, %v23, %c24 : i32
    %c26 = arith.constant 0xFF800000 : f32
    %v27 = arith.select %v25, %in17, %c26 : f32
    linalg.yield %v27 : f32
  } -> tensor<?x?xf32>
  %e29 = tensor.empty(%queries, %keys) : tensor<?x?xf32>
  %p30 = linalg.softmax dimension(1) ins(%t28 : tensor<?x?xf32>) outs(%e29 : tensor<?x?xf32>) -> tensor<?x?xf32>
  %e31 = tensor.empty(%keys, %queries) : tensor<?x?x1xf32>
  %t37 = linalg.generic {indexing_maps = [affine_map<(j, i, e) -> (i, j)>, affine_map<(j, i, e) -> (j, e)>, affine_map<(j, i, e) -> (j, i, e)>], iterator_types = ["parallel", "parallel", "parallel"]}
      ins(%p30, %v : tensor<?x?xf32>, tensor<?x1xf16>) outs(%e31 : tensor<?x?x1xf32>) {
  ^bb0(%in32: f32, %in33: f16, %acc34: f32):
    %v35 = arith.extf %in33 : f16 to f32
    %v36 = arith.mulf %in32, %v35 : f32
    linalg.yield %v36 : f32
  } -> tensor<?x?x1xf32>
  %e38 = tensor.empty(%queries) : tensor<?x1xf32>
  %c39 = arith.constant 0.00000000e+00 : f32
  %f40 = linalg.fill ins(%c39 : f32) outs(%e38 : tensor<?x1xf32>) -> tensor<?x1xf32>
  %r41 = linalg.reduce { arith.addf } ins(%t37 : tensor<?x?x1xf32>) outs(%f40 : tensor<?x1xf32>) dimensions = [0]
  %e42 = tensor.empty(%queries) : tensor<?x1xf16>
  %t46 = linalg.generic {indexing_maps = [affine_map<(i, e) -> (i, e)>, affine_map<(i, e) -> (i, e)>], iterator_types = ["parallel", "parallel"]}
      ins(%r41 : tensor<?x1xf32>) outs(%e42 : tensor<?x1xf16>) {
  ^bb0(%in43: f32, %acc44: f16):
    %v45 = arith.truncf %in43 : f32 to f16
    linalg.yield %v45 : f16
  } -> tensor<?x1xf16>
  return %t46 : tensor<?x1xf16>
}
