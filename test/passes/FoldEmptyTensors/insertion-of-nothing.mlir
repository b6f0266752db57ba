// RUN: fovea-opt --fovea-fold-empty-tensors %s | FileCheck %s

// CHECK-LABEL: @insertion
// CHECK: return %arg1
func.func @insertion(%x: tensor<2x0xf32>, %into: tensor<2x5xf32>) -> tensor<2x5xf32> {
  %y = tensor.insert_slice %x into %into[0, 3] [2, 0] [1, 1] : tensor<2x0xf32> into tensor<2x5xf32>
  return %y : tensor<2x5xf32>
}
