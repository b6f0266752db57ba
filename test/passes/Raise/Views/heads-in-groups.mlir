// RUN: fovea-opt %s --fovea-raise-views --split-input-file | FileCheck %s

// Heads in groups that move together are heads.

// CHECK-LABEL: func.func @groups_move
// CHECK-NOT: tensor.expand_shape
// CHECK: linalg.transpose ins(%arg0 : tensor<5x6x7xf32>) outs(%{{.*}} : tensor<7x5x6xf32>) permutation = [2, 0, 1]
func.func @groups_move(%x: tensor<5x6x7xf32>) -> tensor<7x5x6xf32> {
  %0 = tensor.expand_shape %x [[0], [1, 2], [3]] output_shape [5, 2, 3, 7] : tensor<5x6x7xf32> into tensor<5x2x3x7xf32>
  %e = tensor.empty() : tensor<7x5x2x3xf32>
  %1 = linalg.transpose ins(%0 : tensor<5x2x3x7xf32>) outs(%e : tensor<7x5x2x3xf32>) permutation = [3, 0, 1, 2]
  %2 = tensor.collapse_shape %1 [[0], [1], [2, 3]] : tensor<7x5x2x3xf32> into tensor<7x5x6xf32>
  return %2 : tensor<7x5x6xf32>
}

// -----

// The groups change places: no transpose of heads.

// CHECK-LABEL: func.func @groups_change
// CHECK: tensor.expand_shape
// CHECK: linalg.transpose
// CHECK: tensor.collapse_shape
func.func @groups_change(%x: tensor<5x6xf32>) -> tensor<5x6xf32> {
  %0 = tensor.expand_shape %x [[0], [1, 2]] output_shape [5, 2, 3] : tensor<5x6xf32> into tensor<5x2x3xf32>
  %e = tensor.empty() : tensor<5x3x2xf32>
  %1 = linalg.transpose ins(%0 : tensor<5x2x3xf32>) outs(%e : tensor<5x3x2xf32>) permutation = [0, 2, 1]
  %2 = tensor.collapse_shape %1 [[0], [1, 2]] : tensor<5x3x2xf32> into tensor<5x6xf32>
  return %2 : tensor<5x6xf32>
}
