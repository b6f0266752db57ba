// RUN: fovea-opt %s --fovea-drop-unused-weights | FileCheck %s

// CHECK-NOT: @unused
// CHECK: fovea.weight @used
// CHECK-NOT: @unused
fovea.weight @unused : tensor<2xf32> = #fovea.stored<"f", "unused", tensor<2xf32>>
fovea.weight @used : tensor<2xf32> = #fovea.stored<"f", "used", tensor<2xf32>>
func.func @f() -> tensor<2xf32> {
  %0 = fovea.weight_ref @used : tensor<2xf32>
  return %0 : tensor<2xf32>
}
