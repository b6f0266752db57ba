// RUN: fovea-opt %s --fovea-schedule=target=avx2 | FileCheck %s

// What a group computed was folded: it hands on what it gets.
// CHECK-LABEL: func.func @passes_through(
// CHECK-SAME: %[[X:[a-z0-9]+]]: tensor<2xf32>
// CHECK-NOT: fovea.group
// CHECK: return %[[X]]
func.func @passes_through(%x: tensor<2xf32>) -> tensor<2xf32> {
  %y = fovea.group(%a = %x) : (tensor<2xf32>) -> tensor<2xf32> {
    fovea.yield %a : tensor<2xf32>
  }
  return %y : tensor<2xf32>
}
