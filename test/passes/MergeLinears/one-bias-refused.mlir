// RUN: fovea-opt %s --fovea-merge-linears --remarks-filter=merge-linears --remark-policy=all --remark-format=emitRemark -verify-diagnostics | FileCheck %s

// A bias on the first alone.

// CHECK-LABEL: @some_biases
// CHECK-COUNT-2: fovea.linear
fovea.weight @a : tensor<3x2xf32> = #fovea.stored<"f", "a", tensor<3x2xf32>>
fovea.weight @b : tensor<3x2xf32> = #fovea.stored<"f", "b", tensor<3x2xf32>>
fovea.weight @c : tensor<3xf32> = #fovea.stored<"f", "c", tensor<3xf32>>
func.func @some_biases(%x: tensor<5x2xf32>) -> (tensor<5x3xf32>, tensor<5x3xf32>) {
  %a = fovea.weight_ref @a : tensor<3x2xf32>
  %b = fovea.weight_ref @b : tensor<3x2xf32>
  %c = fovea.weight_ref @c : tensor<3xf32>
  %0 = fovea.linear %x, %a bias(%c : tensor<3xf32>) : tensor<5x2xf32>, tensor<3x2xf32> -> tensor<5x3xf32>
  // expected-remark @below {{only one of them has a bias}}
  %1 = fovea.linear %x, %b : tensor<5x2xf32>, tensor<3x2xf32> -> tensor<5x3xf32>
  return %0, %1 : tensor<5x3xf32>, tensor<5x3xf32>
}
