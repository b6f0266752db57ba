// RUN: fovea-opt %s --fovea-merge-linears --remarks-filter=merge-linears --remark-policy=all --remark-format=emitRemark -verify-diagnostics | FileCheck %s

// Different element types.

// CHECK-LABEL: @element_types
// CHECK-COUNT-2: fovea.linear
fovea.weight @a : tensor<3x2xf32> = #fovea.stored<"f", "a", tensor<3x2xf32>>
fovea.weight @b : tensor<3x2xbf16> = #fovea.stored<"f", "b", tensor<3x2xbf16>>
func.func @element_types(%x: tensor<5x2xf32>) -> (tensor<5x3xf32>, tensor<5x3xf32>) {
  %a = fovea.weight_ref @a : tensor<3x2xf32>
  %b = fovea.weight_ref @b : tensor<3x2xbf16>
  %0 = fovea.linear %x, %a : tensor<5x2xf32>, tensor<3x2xf32> -> tensor<5x3xf32>
  // expected-remark @below {{element types differ}}
  %1 = fovea.linear %x, %b : tensor<5x2xf32>, tensor<3x2xbf16> -> tensor<5x3xf32>
  return %0, %1 : tensor<5x3xf32>, tensor<5x3xf32>
}
