// RUN: fovea-opt %s --fovea-raise-views | FileCheck %s

// Transposes go into a contraction's maps, and meet behind elementwise ops.

// CHECK-DAG: #[[$A:.*]] = affine_map<(d0, d1, d2) -> (d2, d0)>
// CHECK-DAG: #[[$B:.*]] = affine_map<(d0, d1, d2) -> (d2, d1)>
// CHECK-DAG: #[[$C:.*]] = affine_map<(d0, d1, d2) -> (d1, d0)>
// CHECK-LABEL: func.func @transposes
// CHECK-NOT: linalg.transpose
// CHECK: linalg.contract indexing_maps = [#[[$A]], #[[$B]], #[[$C]]]
// CHECK: %[[E:.*]] = math.exp %arg2
// CHECK: %[[S:.*]] = arith.addf %[[E]], %arg2
// CHECK: return %{{.*}}, %[[S]]
func.func @transposes(%x: tensor<2x4xf32>, %y: tensor<2x3xf32>, %z: tensor<?x5xf32>) -> (tensor<3x4xf32>, tensor<?x5xf32>) {
  %c0 = arith.constant 0 : index
  %zero = arith.constant 0.0 : f32
  %i0 = tensor.empty() : tensor<4x2xf32>
  %t0 = linalg.transpose ins(%x : tensor<2x4xf32>) outs(%i0 : tensor<4x2xf32>) permutation = [1, 0]
  %i1 = tensor.empty() : tensor<4x3xf32>
  %f1 = linalg.fill ins(%zero : f32) outs(%i1 : tensor<4x3xf32>) -> tensor<4x3xf32>
  %0 = linalg.contract indexing_maps = [affine_map<(m, n, k) -> (m, k)>, affine_map<(m, n, k) -> (k, n)>, affine_map<(m, n, k) -> (m, n)>]
       ins(%t0, %y : tensor<4x2xf32>, tensor<2x3xf32>) outs(%f1 : tensor<4x3xf32>) -> tensor<4x3xf32>
  %i2 = tensor.empty() : tensor<3x4xf32>
  %1 = linalg.transpose ins(%0 : tensor<4x3xf32>) outs(%i2 : tensor<3x4xf32>) permutation = [1, 0]
  %n = tensor.dim %z, %c0 : tensor<?x5xf32>
  %i3 = tensor.empty(%n) : tensor<5x?xf32>
  %2 = linalg.transpose ins(%z : tensor<?x5xf32>) outs(%i3 : tensor<5x?xf32>) permutation = [1, 0]
  %3 = math.exp %2 : tensor<5x?xf32>
  %4 = arith.addf %3, %2 : tensor<5x?xf32>
  %i4 = tensor.empty(%n) : tensor<?x5xf32>
  %5 = linalg.transpose ins(%4 : tensor<5x?xf32>) outs(%i4 : tensor<?x5xf32>) permutation = [1, 0]
  return %1, %5 : tensor<3x4xf32>, tensor<?x5xf32>
}
