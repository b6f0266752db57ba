// RUN: fovea-opt %s --fovea-raise-views | FileCheck %s

// Axes that become one and are neighbours before the first transpose: both go. Others keep them.

// CHECK-LABEL: @meet
// CHECK-NOT: linalg.transpose
// CHECK: %[[Y:.*]] = tensor.collapse_shape %{{.*}} {{\[\[}}0], [1, 2], [3]] : tensor<2x14x12x32xf32> into tensor<2x168x32xf32>
// CHECK-NOT: linalg.transpose
// CHECK: return %[[Y]]
func.func @meet(%x: tensor<2x14x12x32xf32>) -> tensor<2x168x32xf32> {
  %0 = tensor.empty() : tensor<2x32x14x12xf32>
  %1 = linalg.transpose ins(%x : tensor<2x14x12x32xf32>) outs(%0 : tensor<2x32x14x12xf32>) permutation = [0, 3, 1, 2]
  %2 = tensor.collapse_shape %1 [[0], [1], [2, 3]] : tensor<2x32x14x12xf32> into tensor<2x32x168xf32>
  %3 = tensor.empty() : tensor<2x168x32xf32>
  %4 = linalg.transpose ins(%2 : tensor<2x32x168xf32>) outs(%3 : tensor<2x168x32xf32>) permutation = [0, 2, 1]
  return %4 : tensor<2x168x32xf32>
}

// CHECK-LABEL: @apart
// CHECK-COUNT-2: linalg.transpose
func.func @apart(%x: tensor<14x2x12x32xf32>) -> tensor<2x168x32xf32> {
  %0 = tensor.empty() : tensor<2x32x14x12xf32>
  %1 = linalg.transpose ins(%x : tensor<14x2x12x32xf32>) outs(%0 : tensor<2x32x14x12xf32>) permutation = [1, 3, 0, 2]
  %2 = tensor.collapse_shape %1 [[0], [1], [2, 3]] : tensor<2x32x14x12xf32> into tensor<2x32x168xf32>
  %3 = tensor.empty() : tensor<2x168x32xf32>
  %4 = linalg.transpose ins(%2 : tensor<2x32x168xf32>) outs(%3 : tensor<2x168x32xf32>) permutation = [0, 2, 1]
  return %4 : tensor<2x168x32xf32>
}
