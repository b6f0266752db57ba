// RUN: fovea-opt %s --fovea-merge-linears --remarks-filter=merge-linears --remark-policy=all --remark-format=emitRemark -verify-diagnostics | FileCheck %s

// Arguments of an entry.

// CHECK-LABEL: @entry
// CHECK-COUNT-2: fovea.linear
func.func @entry(%x: tensor<5x2xf32>, %a: tensor<3x2xf32>, %b: tensor<3x2xf32>) -> (tensor<5x3xf32>, tensor<5x3xf32>) attributes {fovea.entry} {
  // expected-remark @below {{is not private}}
  %0 = fovea.linear %x, %a : tensor<5x2xf32>, tensor<3x2xf32> -> tensor<5x3xf32>
  %1 = fovea.linear %x, %b : tensor<5x2xf32>, tensor<3x2xf32> -> tensor<5x3xf32>
  return %0, %1 : tensor<5x3xf32>, tensor<5x3xf32>
}
