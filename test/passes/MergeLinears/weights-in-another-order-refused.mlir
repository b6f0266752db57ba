// RUN: fovea-opt %s --fovea-merge-linears --split-input-file --remarks-filter=merge-linears --remark-policy=all --remark-format=emitRemark -verify-diagnostics | FileCheck %s

// The same weights in another order, and one weight beside different ones.

// CHECK-LABEL: @order
// CHECK-COUNT-4: fovea.linear
fovea.weight @a : tensor<3x2xf32> = #fovea.stored<"f", "a", tensor<3x2xf32>>
fovea.weight @b : tensor<3x2xf32> = #fovea.stored<"f", "b", tensor<3x2xf32>>
func.func @order(%x: tensor<5x2xf32>, %y: tensor<5x2xf32>) -> (tensor<5x3xf32>, tensor<5x3xf32>, tensor<5x3xf32>, tensor<5x3xf32>) {
  %a = fovea.weight_ref @a : tensor<3x2xf32>
  %b = fovea.weight_ref @b : tensor<3x2xf32>
  // expected-remark @below {{would be stored twice}}
  %0 = fovea.linear %x, %a : tensor<5x2xf32>, tensor<3x2xf32> -> tensor<5x3xf32>
  %1 = fovea.linear %x, %b : tensor<5x2xf32>, tensor<3x2xf32> -> tensor<5x3xf32>
  // expected-remark @below {{would be stored twice}}
  %2 = fovea.linear %y, %b : tensor<5x2xf32>, tensor<3x2xf32> -> tensor<5x3xf32>
  %3 = fovea.linear %y, %a : tensor<5x2xf32>, tensor<3x2xf32> -> tensor<5x3xf32>
  return %0, %1, %2, %3 : tensor<5x3xf32>, tensor<5x3xf32>, tensor<5x3xf32>, tensor<5x3xf32>
}

// -----

// CHECK-LABEL: @neighbours
// CHECK-COUNT-4: fovea.linear
fovea.weight @a : tensor<3x2xf32> = #fovea.stored<"f", "a", tensor<3x2xf32>>
fovea.weight @b : tensor<3x2xf32> = #fovea.stored<"f", "b", tensor<3x2xf32>>
fovea.weight @c : tensor<3x2xf32> = #fovea.stored<"f", "c", tensor<3x2xf32>>
func.func @neighbours(%x: tensor<5x2xf32>, %y: tensor<5x2xf32>) -> (tensor<5x3xf32>, tensor<5x3xf32>, tensor<5x3xf32>, tensor<5x3xf32>) {
  %a = fovea.weight_ref @a : tensor<3x2xf32>
  %b = fovea.weight_ref @b : tensor<3x2xf32>
  %c = fovea.weight_ref @c : tensor<3x2xf32>
  // expected-remark @below {{would be stored twice}}
  %0 = fovea.linear %x, %a : tensor<5x2xf32>, tensor<3x2xf32> -> tensor<5x3xf32>
  %1 = fovea.linear %x, %b : tensor<5x2xf32>, tensor<3x2xf32> -> tensor<5x3xf32>
  // expected-remark @below {{is merged with others elsewhere}}
  %2 = fovea.linear %y, %a : tensor<5x2xf32>, tensor<3x2xf32> -> tensor<5x3xf32>
  %3 = fovea.linear %y, %c : tensor<5x2xf32>, tensor<3x2xf32> -> tensor<5x3xf32>
  return %0, %1, %2, %3 : tensor<5x3xf32>, tensor<5x3xf32>, tensor<5x3xf32>, tensor<5x3xf32>
}
