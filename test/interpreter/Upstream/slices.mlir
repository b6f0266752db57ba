// RUN: fovea-interpret %s | FileCheck %s

// CHECK-LABEL: @slices
// CHECK-NEXT: 2x2 [3, 5, 9, 11]
// CHECK-NEXT: 3 [7, 8, 9]
// CHECK-NEXT: 3x6 [0, 1, 2, 3, 4, 5, 6, 50, 8, 9, 60, 11, 12, 13, 14, 15, 16, 17]
func.func @slices() -> (tensor<2x2xi32>, tensor<3xi32>, tensor<3x6xi32>) {
  %t = arith.constant dense<[[0, 1, 2, 3, 4, 5], [6, 7, 8, 9, 10, 11], [12, 13, 14, 15, 16, 17]]> : tensor<3x6xi32>
  %0 = tensor.extract_slice %t[0, 3] [2, 2] [1, 2] : tensor<3x6xi32> to tensor<2x2xi32>
  %1 = tensor.extract_slice %t[1, 1] [1, 3] [1, 1] : tensor<3x6xi32> to tensor<3xi32>
  %s = arith.constant dense<[50, 60]> : tensor<2xi32>
  %2 = tensor.insert_slice %s into %t[1, 1] [1, 2] [1, 3] : tensor<2xi32> into tensor<3x6xi32>
  return %0, %1, %2 : tensor<2x2xi32>, tensor<3xi32>, tensor<3x6xi32>
}
