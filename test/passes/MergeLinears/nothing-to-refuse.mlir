// RUN: fovea-opt %s --fovea-merge-linears --remarks-filter=merge-linears --remark-policy=all --remark-format=emitRemark -verify-diagnostics | FileCheck %s

// Different inputs, and a single linear: there is nothing to refuse.

// CHECK-LABEL: @inputs
// CHECK-COUNT-2: fovea.linear
fovea.weight @a : tensor<3x2xf32> = #fovea.stored<"f", "a", tensor<3x2xf32>>
fovea.weight @b : tensor<3x2xf32> = #fovea.stored<"f", "b", tensor<3x2xf32>>
func.func @inputs(%x: tensor<5x2xf32>, %y: tensor<5x2xf32>) -> (tensor<5x3xf32>, tensor<5x3xf32>) {
  %a = fovea.weight_ref @a : tensor<3x2xf32>
  %b = fovea.weight_ref @b : tensor<3x2xf32>
  %0 = fovea.linear %x, %a : tensor<5x2xf32>, tensor<3x2xf32> -> tensor<5x3xf32>
  %1 = fovea.linear %y, %b : tensor<5x2xf32>, tensor<3x2xf32> -> tensor<5x3xf32>
  return %0, %1 : tensor<5x3xf32>, tensor<5x3xf32>
}
