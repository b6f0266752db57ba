// RUN: fovea-opt %s --fovea-raise-linear | FileCheck %s

// An einsum from [.., M] to heads [.., H, D], with the heads in front, and one back. The weights are [H, M, D] and [H, D, M].

// CHECK-DAG: fovea.weight @[[$Q:.*]] : tensor<6x5xf32> = #fovea.reshape<#fovea.permute<#fovea.stored<"f", "q", tensor<2x5x3xf32>>, [0, 2, 1]>, [6, 5]>
// CHECK-DAG: fovea.weight @[[$BQ:.*]] : tensor<6xf32> = #fovea.reshape<#fovea.stored<"f", "bq", tensor<2x3xf32>>, [6]>
// CHECK-DAG: fovea.weight @[[$O:.*]] : tensor<5x6xf32> = #fovea.transpose<#fovea.reshape<#fovea.stored<"f", "o", tensor<2x3x5xf32>>, [6, 5]>>
// CHECK-LABEL: func.func @einsum
// CHECK-SAME: (%[[X:.*]]: tensor<1x4x5xf32>, %[[A:.*]]: tensor<1x4x2x3xf32>)
// CHECK-DAG: %[[WQ:.*]] = fovea.weight_ref @[[$Q]]
// CHECK-DAG: %[[WB:.*]] = fovea.weight_ref @[[$BQ]]
// CHECK: %[[L:.*]] = fovea.linear %[[X]], %[[WQ]] bias(%[[WB]] : tensor<6xf32>)
// CHECK: %[[E:.*]] = tensor.expand_shape %[[L]] {{\[\[}}0], [1], [2, 3]]
// CHECK: %[[T:.*]] = linalg.transpose ins(%[[E]] : tensor<1x4x2x3xf32>) {{.*}} permutation = [0, 2, 1, 3]
// CHECK-DAG: %[[C:.*]] = tensor.collapse_shape %[[A]] {{\[\[}}0], [1], [2, 3]]
// CHECK-DAG: %[[WO:.*]] = fovea.weight_ref @[[$O]]
// CHECK: %[[Y:.*]] = fovea.linear %[[C]], %[[WO]]
// CHECK: return %[[T]], %[[Y]]
fovea.weight @q : tensor<2x5x3xf32> = #fovea.stored<"f", "q", tensor<2x5x3xf32>>
fovea.weight @bq : tensor<2x3xf32> = #fovea.stored<"f", "bq", tensor<2x3xf32>>
fovea.weight @o : tensor<2x3x5xf32> = #fovea.stored<"f", "o", tensor<2x3x5xf32>>
func.func @einsum(%x: tensor<1x4x5xf32>, %a: tensor<1x4x2x3xf32>) -> (tensor<1x2x4x3xf32>, tensor<1x4x5xf32>) {
  %zero = arith.constant 0.0 : f32
  %wq = fovea.weight_ref @q : tensor<2x5x3xf32>
  %wb = fovea.weight_ref @bq : tensor<2x3xf32>
  %wo = fovea.weight_ref @o : tensor<2x3x5xf32>
  %i0 = tensor.empty() : tensor<1x2x4x3xf32>
  %f0 = linalg.fill ins(%zero : f32) outs(%i0 : tensor<1x2x4x3xf32>) -> tensor<1x2x4x3xf32>
  %0 = linalg.contract indexing_maps = [affine_map<(b, s, h, d, m) -> (b, s, m)>, affine_map<(b, s, h, d, m) -> (h, m, d)>, affine_map<(b, s, h, d, m) -> (b, h, s, d)>]
       ins(%x, %wq : tensor<1x4x5xf32>, tensor<2x5x3xf32>) outs(%f0 : tensor<1x2x4x3xf32>) -> tensor<1x2x4x3xf32>
  %1 = linalg.generic {indexing_maps = [affine_map<(b, h, s, d) -> (b, h, s, d)>, affine_map<(b, h, s, d) -> (h, d)>, affine_map<(b, h, s, d) -> (b, h, s, d)>], iterator_types = ["parallel", "parallel", "parallel", "parallel"]}
      ins(%0, %wb : tensor<1x2x4x3xf32>, tensor<2x3xf32>) outs(%i0 : tensor<1x2x4x3xf32>) {
  ^bb0(%p: f32, %r: f32, %out: f32):
    %3 = arith.addf %p, %r : f32
    linalg.yield %3 : f32
  } -> tensor<1x2x4x3xf32>
  %i1 = tensor.empty() : tensor<1x4x5xf32>
  %f1 = linalg.fill ins(%zero : f32) outs(%i1 : tensor<1x4x5xf32>) -> tensor<1x4x5xf32>
  %2 = linalg.contract indexing_maps = [affine_map<(b, s, m, h, d) -> (b, s, h, d)>, affine_map<(b, s, m, h, d) -> (h, d, m)>, affine_map<(b, s, m, h, d) -> (b, s, m)>]
       ins(%a, %wo : tensor<1x4x2x3xf32>, tensor<2x3x5xf32>) outs(%f1 : tensor<1x4x5xf32>) -> tensor<1x4x5xf32>
  return %1, %2 : tensor<1x2x4x3xf32>, tensor<1x4x5xf32>
}
