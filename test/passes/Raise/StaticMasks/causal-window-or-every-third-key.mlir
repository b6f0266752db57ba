// RUN: cat %S/Inputs/attend.mlir %s | fovea-opt --inline --fovea-raise-attention --canonicalize --cse | FileCheck %s

// CHECK-LABEL: @window_and_every_third(
// CHECK:         %[[A:.*]] = fovea.mask_causal
// CHECK:         %[[W:.*]] = fovea.mask_window left(1)
// CHECK:         %[[S:.*]] = fovea.mask_segment
// CHECK:         %[[B:.*]] = fovea.mask_or(%[[W]], %[[S]])
// CHECK:         %[[M:.*]] = fovea.mask_and(%[[A]], %[[B]])
// CHECK:         fovea.attention {{.*}} mask(%[[M]])
func.func @window_and_every_third(%x: tensor<2x8x4xf32>) -> tensor<2x8x4xf32> {
  %t = arith.constant dense<[[true,false,false,false,false,false,false,false],
                           [true,true,false,false,false,false,false,false],
                           [false,true,true,false,false,false,false,false],
                           [true,false,true,true,false,false,false,false],
                           [false,true,false,true,true,false,false,false],
                           [false,false,true,false,true,true,false,false],
                           [true,false,false,true,false,true,true,false],
                           [false,true,false,false,true,false,true,true]]> : tensor<8x8xi1>
  %y = func.call @attend(%x, %t) : (tensor<2x8x4xf32>, tensor<8x8xi1>) -> tensor<2x8x4xf32>
  return %y : tensor<2x8x4xf32>
}
