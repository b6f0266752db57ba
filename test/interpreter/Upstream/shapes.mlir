// RUN: fovea-interpret %s | FileCheck %s

// CHECK-LABEL: @shapes
// CHECK-NEXT: 1x3x2 [0, 1, 2, 3, 4, 5]
// CHECK-NEXT: 6 [0, 1, 2, 3, 4, 5]
// CHECK-NEXT: 3
// CHECK-NEXT: 2x4 [7, 0, 1, 7, 7, 2, 3, 7]
// CHECK-NEXT: 2x3 [0, 1, 9, 2, 3, 9]
// CHECK-NEXT: 2x2 [0, 1, 1, 2]
// CHECK-NEXT: 2x2 [nan, nan, nan, nan]
func.func @shapes() -> (tensor<1x?x2xi32>, tensor<6xi32>, index, tensor<2x4xi32>, tensor<2x3xi32>, tensor<2x2xindex>, tensor<2x2xf32>) {
  %t = arith.constant dense<[0, 1, 2, 3, 4, 5]> : tensor<6xi32>
  %c = tensor.cast %t : tensor<6xi32> to tensor<?xi32>
  %three = arith.constant 3 : index
  %0 = tensor.expand_shape %c [[0, 1, 2]] output_shape [1, %three, 2] : tensor<?xi32> into tensor<1x?x2xi32>
  %1 = tensor.collapse_shape %0 [[0, 1, 2]] : tensor<1x?x2xi32> into tensor<?xi32>
  %flat = tensor.cast %1 : tensor<?xi32> to tensor<6xi32>
  %one = arith.constant 1 : index
  %2 = tensor.dim %0, %one : tensor<1x?x2xi32>
  %m = arith.constant dense<[[0, 1], [2, 3]]> : tensor<2x2xi32>
  %seven = arith.constant 7 : i32
  %3 = tensor.pad %m low[0, 1] high[0, 1] {
  ^bb0(%i: index, %j: index):
    tensor.yield %seven : i32
  } : tensor<2x2xi32> to tensor<2x4xi32>
  %nine = arith.constant dense<9> : tensor<2x1xi32>
  %4 = tensor.concat dim(1) %m, %nine : (tensor<2x2xi32>, tensor<2x1xi32>) -> tensor<2x3xi32>
  %5 = tensor.generate {
  ^bb0(%i: index, %j: index):
    %s = arith.addi %i, %j : index
    tensor.yield %s : index
  } : tensor<2x2xindex>
  %6 = tensor.empty() : tensor<2x2xf32>
  return %0, %flat, %2, %3, %4, %5, %6 : tensor<1x?x2xi32>, tensor<6xi32>, index, tensor<2x4xi32>, tensor<2x3xi32>, tensor<2x2xindex>, tensor<2x2xf32>
}
