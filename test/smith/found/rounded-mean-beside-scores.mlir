// RUN: fovea-smith %s

// Rows without keys, in f16, beside returned scores: taken for zero.
//
// choices: type=1 batch=1 heads=2 depth=4 self=1 static=7 batch-size=1 queries=3 keys=3 layout-k=1 layout-v=2 layout-out=1 merge=24 value-product=2 score-order=1 scale=2 rule1=8 rule2=3 mask0=1 mask1=18 mask2=13 join=2 apply=1 mask-form=1 guard=1 returns=2 spelling=447211443
// fused: -1
// masks: *
// input: qkv normal 1

func.func @forward(%qkv: tensor<1x3x24xf16> {fovea.name = "qkv"})
    -> (tensor<1x3x8xf16> {fovea.name = "output"}, tensor<1x3x2x3xf16> {fovea.name = "scores"})
    attributes {fovea.entry} {
  %part0 = tensor.extract_slice %qkv[0, 0, 0] [1, 3, 8] [1, 1, 1] : tensor<1x3x24xf16> to tensor<1x3x8xf16>
  %split1 = tensor.expand_shape %part0 [[0], [1], [2, 3]] output_shape [1, 3, 2, 4] : tensor<1x3x8xf16> into tensor<1x3x2x4xf16>
  %part2 = tensor.extract_slice %qkv[0, 0, 8] [1, 3, 8] [1, 1, 1] : tensor<1x3x24xf16> to tensor<1x3x8xf16>
  %split3 = tensor.expand_shape %part2 [[0], [1], [2, 3]] output_shape [1, 3, 2, 4] : tensor<1x3x8xf16> into tensor<1x3x2x4xf16>
  %part4 = tensor.extract_slice %qkv[0, 0, 16] [1, 3, 8] [1, 1, 1] : tensor<1x3x24xf16> to tensor<1x3x8xf16>
  %split5 = tensor.expand_shape %part4 [[0], [1], [2, 3]] output_shape [1, 3, 2, 4] : tensor<1x3x8xf16> into tensor<1x3x2x4xf16>
  %e6 = tensor.empty() : tensor<1x3x2x4xf16>
  %t11 = linalg.generic {indexing_maps = [affine_map<(b, i, h, d) -> (b, i, h, d)>, affine_map<(b, i, h, d) -> (b, i, h, d)>], iterator_types = ["parallel", "parallel", "parallel", "parallel"]}
      ins(%split1 : tensor<1x3x2x4xf16>) outs(%e6 : tensor<1x3x2x4xf16>) {
  ^bb0(%in7: f16, %acc8: f16):
    %c9 = arith.constant 5.00000000e-01 : f16
    %v10 = arith.mulf %in7, %c9 : f16
    linalg.yield %v10 : f16
  } -> tensor<1x3x2x4xf16>
  %e12 = tensor.empty() : tensor<1x3x2x3xf16>
  %c13 = arith.constant 0.00000000e+00 : f16
  %f14 = linalg.fill ins(%c13 : f16) outs(%e12 : tensor<1x3x2x3xf16>) -> tensor<1x3x2x3xf16>
  %product15 = linalg.contract indexing_maps = [affine_map<(b, i, h, j, d) -> (b, i, h, d)>, affine_map<(b, i, h, j, d) -> (b, j, h, d)>, affine_map<(b, i, h, j, d) -> (b, i, h, j)>]
      ins(%t11, %split3 : tensor<1x3x2x4xf16>, tensor<1x3x2x4xf16>) outs(%f14 : tensor<1x3x2x3xf16>) -> tensor<1x3x2x3xf16>
  %e16 = tensor.empty() : tensor<3x3xi1>
  %t46 = linalg.generic {indexing_maps = [affine_map<(i, j) -> (i, j)>], iterator_types = ["parallel", "parallel"]}
      outs(%e16 : tensor<3x3xi1>) {
  ^bb0(%acc17: i1):
    %at18 = linalg.index 1 : index
    %at19 = linalg.index 0 : index
    %v20 = arith.cmpi sgt, %at18, %at19 : index
    %c21 = arith.constant true
    %v22 = arith.xori %v20, %c21 : i1
    %at23 = linalg.index 0 : index
    %v24 = arith.index_cast %at23 : index to i64
    %c25 = arith.constant 2 : i64
    %v26 = arith.divsi %v24, %c25 : i64
    %at27 = linalg.index 1 : index
    %v28 = arith.index_cast %at27 : index to i64
    %v29 = arith.divsi %v28, %c25 : i64
    %v30 = arith.cmpi eq, %v26, %v29 : i64
    %c31 = arith.constant true
    %v32 = arith.xori %v30, %c31 : i1
    %v33 = arith.andi %v22, %v32 : i1
    %at34 = linalg.index 1 : index
    %v35 = arith.index_cast %at34 : index to i32
    %c36 = arith.constant 1 : i32
    %v37 = arith.cmpi slt, %v35, %c36 : i32
    %at38 = linalg.index 0 : index
    %v39 = arith.index_cast %at38 : index to i32
    %c40 = arith.constant 1 : i32
    %v41 = arith.cmpi slt, %v39, %c40 : i32
    %v42 = arith.ori %v37, %v41 : i1
    %c43 = arith.constant true
    %v44 = arith.xori %v42, %c43 : i1
    %v45 = arith.andi %v33, %v44 : i1
    linalg.yield %v45 : i1
  } -> tensor<3x3xi1>
  %e47 = tensor.empty() : tensor<1x3x2x3xf16>
  %t65 = linalg.generic {indexing_maps = [affine_map<(b, i, h, j) -> (i, j)>, affine_map<(b, i, h, j) -> (b, i, h, j)>, affine_map<(b, i, h, j) -> (b, i, h, j)>], iterator_types = ["parallel", "parallel", "parallel", "parallel"]}
      ins(%t46, %product15 : tensor<3x3xi1>, tensor<1x3x2x3xf16>) outs(%e47 : tensor<1x3x2x3xf16>) {
  ^bb0(%in48: i1, %in49: f16, %acc50: f16):
    %c51 = arith.constant 1.00000000e+00 : f16
    %c52 = arith.constant 1.00000000e+00 : f16
    %v53 = arith.negf %in49 : f16
    %v54 = math.exp %v53 : f16
    %v55 = arith.addf %c52, %v54 : f16
    %v56 = arith.divf %c51, %v55 : f16
    %v57 = arith.mulf %in49, %v56 : f16
    %c58 = arith.constant 3.00000000e+00 : f16
    %v59 = arith.divf %v57, %c58 : f16
    %v60 = math.tanh %v59 : f16
    %c61 = arith.constant 3.00000000e+00 : f16
    %v62 = arith.mulf %v60, %c61 : f16
    %c63 = arith.constant -6.00000000e+04 : f16
    %v64 = arith.select %in48, %v62, %c63 : f16
    linalg.yield %v64 : f16
  } -> tensor<1x3x2x3xf16>
  %e66 = tensor.empty() : tensor<1x3x2x3xf16>
  %p67 = linalg.softmax dimension(3) ins(%t65 : tensor<1x3x2x3xf16>) outs(%e66 : tensor<1x3x2x3xf16>) -> tensor<1x3x2x3xf16>
  %e68 = tensor.empty() : tensor<1x2x3x3xf16>
  %t74 = linalg.generic {indexing_maps = [affine_map<(b, h, i, j) -> (b, i, h, j)>, affine_map<(b, h, i, j) -> (b, h, i, j)>], iterator_types = ["parallel", "parallel", "parallel", "parallel"]}
      ins(%p67 : tensor<1x3x2x3xf16>) outs(%e68 : tensor<1x2x3x3xf16>) {
  ^bb0(%in69: f16, %acc70: f16):
    %v71 = arith.cmpf une, %in69, %in69 : f16
    %c72 = arith.constant 0.00000000e+00 : f16
    %v73 = arith.select %v71, %c72, %in69 : f16
    linalg.yield %v73 : f16
  } -> tensor<1x2x3x3xf16>
  %flat75 = tensor.collapse_shape %t74 [[0, 1], [2], [3]] : tensor<1x2x3x3xf16> into tensor<2x3x3xf16>
  %e76 = tensor.empty() : tensor<1x2x3x4xf16>
  %turned77 = linalg.transpose ins(%split5 : tensor<1x3x2x4xf16>) outs(%e76 : tensor<1x2x3x4xf16>) permutation = [0, 2, 1, 3]
  %flat78 = tensor.collapse_shape %turned77 [[0, 1], [2], [3]] : tensor<1x2x3x4xf16> into tensor<2x3x4xf16>
  %e79 = tensor.empty() : tensor<2x3x4xf16>
  %c80 = arith.constant 0.00000000e+00 : f16
  %f81 = linalg.fill ins(%c80 : f16) outs(%e79 : tensor<2x3x4xf16>) -> tensor<2x3x4xf16>
  %product82 = linalg.batch_matmul ins(%flat75, %flat78 : tensor<2x3x3xf16>, tensor<2x3x4xf16>) outs(%f81 : tensor<2x3x4xf16>) -> tensor<2x3x4xf16>
  %split83 = tensor.expand_shape %product82 [[0, 1], [2], [3]] output_shape [1, 2, 3, 4] : tensor<2x3x4xf16> into tensor<1x2x3x4xf16>
  %e84 = tensor.empty() : tensor<1x3x2x4xf16>
  %turned85 = linalg.transpose ins(%split83 : tensor<1x2x3x4xf16>) outs(%e84 : tensor<1x3x2x4xf16>) permutation = [0, 2, 1, 3]
  %flat86 = tensor.collapse_shape %turned85 [[0], [1], [2, 3]] : tensor<1x3x2x4xf16> into tensor<1x3x8xf16>
  %e87 = tensor.empty() : tensor<1x3x2x3xf16>
  %t105 = linalg.generic {indexing_maps = [affine_map<(b, i, h, j) -> (i, j)>, affine_map<(b, i, h, j) -> (b, i, h, j)>, affine_map<(b, i, h, j) -> (b, i, h, j)>], iterator_types = ["parallel", "parallel", "parallel", "parallel"]}
      ins(%t46, %product15 : tensor<3x3xi1>, tensor<1x3x2x3xf16>) outs(%e87 : tensor<1x3x2x3xf16>) {
  ^bb0(%in88: i1, %in89: f16, %acc90: f16):
    %c91 = arith.constant 1.00000000e+00 : f16
    %c92 = arith.constant 1.00000000e+00 : f16
    %v93 = arith.negf %in89 : f16
    %v94 = math.exp %v93 : f16
    %v95 = arith.addf %c92, %v94 : f16
    %v96 = arith.divf %c91, %v95 : f16
    %v97 = arith.mulf %in89, %v96 : f16
    %c98 = arith.constant 3.00000000e+00 : f16
    %v99 = arith.divf %v97, %c98 : f16
    %v100 = math.tanh %v99 : f16
    %c101 = arith.constant 3.00000000e+00 : f16
    %v102 = arith.mulf %v100, %c101 : f16
    %c103 = arith.constant -6.00000000e+04 : f16
    %v104 = arith.select %in88, %v102, %c103 : f16
    linalg.yield %v104 : f16
  } -> tensor<1x3x2x3xf16>
  return %flat86, %t105 : tensor<1x3x8xf16>, tensor<1x3x2x3xf16>
}
