// RUN: cat %S/Inputs/attend.mlir %s | fovea-opt --inline --fovea-raise-attention --canonicalize --cse | FileCheck %s

// Of one place another is true than blocks say: a matrix like any other.
// CHECK-LABEL: @blocks_but_for_one_place(
// CHECK:         %[[M:.*]] = fovea.mask_dense
// CHECK:         fovea.attention {{.*}} mask(%[[M]])
func.func @blocks_but_for_one_place(%x: tensor<2x8x4xf32>) -> tensor<2x8x4xf32> {
  %t = arith.constant dense<[[true,true,true,false,false,false,false,false],
                           [true,true,true,false,false,false,false,false],
                           [true,true,true,false,false,false,false,false],
                           [false,false,false,true,true,true,false,false],
                           [false,false,true,true,true,true,false,false],
                           [false,false,false,true,true,true,false,false],
                           [false,false,false,false,false,false,true,true],
                           [false,false,false,false,false,false,true,true]]> : tensor<8x8xi1>
  %y = func.call @attend(%x, %t) : (tensor<2x8x4xf32>, tensor<8x8xi1>) -> tensor<2x8x4xf32>
  return %y : tensor<2x8x4xf32>
}
