// RUN: fovea-opt %s -fovea-refine-shapes | FileCheck %s

// Nothing is cast: the operand's own type says more than the result's.
// CHECK-LABEL: @static_operand
// CHECK: fovea.embedding {{.*}} -> tensor<2x5x8xf32>
func.func @static_operand(%i: tensor<2x5xi64>, %t: tensor<9x8xf32>) -> tensor<?x?x8xf32> {
  %0 = fovea.embedding %i, %t : tensor<2x5xi64>, tensor<9x8xf32> -> tensor<?x?x8xf32>
  return %0 : tensor<?x?x8xf32>
}
