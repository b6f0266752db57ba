// RUN: fovea-opt %s --fovea-merge-linears --remarks-filter=merge-linears --remark-policy=all --remark-format=emitRemark -verify-diagnostics | FileCheck %s

// One weight twice.

// CHECK-LABEL: @twice
// CHECK-COUNT-2: fovea.linear
fovea.weight @a : tensor<3x2xf32> = #fovea.stored<"f", "a", tensor<3x2xf32>>
fovea.weight @c : tensor<3xf32> = #fovea.stored<"f", "c", tensor<3xf32>>
fovea.weight @d : tensor<3xf32> = #fovea.stored<"f", "d", tensor<3xf32>>
func.func @twice(%x: tensor<5x2xf32>) -> (tensor<5x3xf32>, tensor<5x3xf32>) {
  %a = fovea.weight_ref @a : tensor<3x2xf32>
  %c = fovea.weight_ref @c : tensor<3xf32>
  %d = fovea.weight_ref @d : tensor<3xf32>
  // expected-remark @below {{would be stored twice}}
  %0 = fovea.linear %x, %a bias(%c : tensor<3xf32>) : tensor<5x2xf32>, tensor<3x2xf32> -> tensor<5x3xf32>
  %1 = fovea.linear %x, %a bias(%d : tensor<3xf32>) : tensor<5x2xf32>, tensor<3x2xf32> -> tensor<5x3xf32>
  return %0, %1 : tensor<5x3xf32>, tensor<5x3xf32>
}
