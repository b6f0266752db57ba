// RUN: fovea-opt %s -fovea-refine-shapes | FileCheck %s

// CHECK-LABEL: @constant_sizes
// CHECK: fovea.positions from %{{.*}} : tensor<1x7xi32>
// CHECK: fovea.mask_materialize %{{.*}}[%{{.*}}] : tensor<?x2x3x4xi1>
func.func @constant_sizes(%first: index, %b: index) -> (tensor<1x?xi32>, tensor<?x2x?x?xi1>) {
  %c7 = arith.constant 7 : index
  %c3 = arith.constant 3 : index
  %c4 = arith.constant 4 : index
  %p = fovea.positions from %first count %c7 : tensor<1x?xi32>
  %m = fovea.mask_causal
  %t = fovea.mask_materialize %m [%b, %c3, %c4] : tensor<?x2x?x?xi1>
  return %p, %t : tensor<1x?xi32>, tensor<?x2x?x?xi1>
}
