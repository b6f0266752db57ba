// RUN: fovea-opt --fovea-fold-empty-tensors %s | FileCheck %s

// A call may do anything.
// CHECK-LABEL: func.func @calls
// CHECK: call @other
func.func private @other(%x: tensor<0xf32>) -> tensor<0xf32>
func.func @calls(%x: tensor<0xf32>) -> tensor<0xf32> {
  %y = call @other(%x) : (tensor<0xf32>) -> tensor<0xf32>
  return %y : tensor<0xf32>
}
