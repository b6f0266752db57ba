// RUN: fovea-opt %s --fovea-form-groups --canonicalize | FileCheck %s

// Groups that are there already stay.

// CHECK-LABEL: func.func @again
// CHECK: fovea.group
// CHECK-NEXT: fovea.activation
// CHECK-NOT: fovea.group
func.func @again(%x: tensor<2x3xf32>) -> tensor<2x3xf32> {
  %y = fovea.group(%a = %x) : (tensor<2x3xf32>) -> tensor<2x3xf32> {
    %0 = fovea.activation gelu %a : tensor<2x3xf32>
    fovea.yield %0 : tensor<2x3xf32>
  }
  return %y : tensor<2x3xf32>
}
