// RUN: fovea-opt %s --fovea-raise-views --split-input-file | FileCheck %s

// Rows are collapsed, computed on, and expanded again, some with their heads.

// CHECK-LABEL: func.func @reshapes
// CHECK-SAME: (%[[X:.*]]: tensor<?x?x6xf32>)
// CHECK-NOT: collapse_shape
// CHECK: %[[Y:.*]] = math.tanh %[[X]] : tensor<?x?x6xf32>
// CHECK: %[[E:.*]] = tensor.expand_shape %[[Y]] {{\[\[}}0], [1], [2, 3]]
// CHECK: return %[[Y]], %[[E]]
func.func @reshapes(%x: tensor<?x?x6xf32>) -> (tensor<?x?x6xf32>, tensor<?x?x2x3xf32>) {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %n = tensor.dim %x, %c0 : tensor<?x?x6xf32>
  %s = tensor.dim %x, %c1 : tensor<?x?x6xf32>
  %0 = tensor.collapse_shape %x [[0, 1], [2]] : tensor<?x?x6xf32> into tensor<?x6xf32>
  %1 = math.tanh %0 : tensor<?x6xf32>
  %2 = tensor.expand_shape %1 [[0, 1], [2]] output_shape [%n, %s, 6] : tensor<?x6xf32> into tensor<?x?x6xf32>
  %3 = tensor.expand_shape %1 [[0, 1], [2, 3]] output_shape [%n, %s, 2, 3] : tensor<?x6xf32> into tensor<?x?x2x3xf32>
  return %2, %3 : tensor<?x?x6xf32>, tensor<?x?x2x3xf32>
}

// -----

// Other rows than were collapsed: nothing to meet.

// CHECK-LABEL: func.func @other_rows
// CHECK: tensor.collapse_shape
// CHECK: tensor.expand_shape
func.func @other_rows(%x: tensor<?x?x6xf32>) -> tensor<?x?x6xf32> {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %n = tensor.dim %x, %c0 : tensor<?x?x6xf32>
  %s = tensor.dim %x, %c1 : tensor<?x?x6xf32>
  %0 = tensor.collapse_shape %x [[0, 1], [2]] : tensor<?x?x6xf32> into tensor<?x6xf32>
  %1 = tensor.expand_shape %0 [[0, 1], [2]] output_shape [%s, %n, 6] : tensor<?x6xf32> into tensor<?x?x6xf32>
  return %1 : tensor<?x?x6xf32>
}
