// RUN: cat %S/Inputs/attend.mlir %s | fovea-opt --inline --fovea-raise-attention --canonicalize --cse | FileCheck %s

// A causal window of three keys, and no key past the sixth.

// CHECK-LABEL: @window_and_length(
// CHECK:         %[[N:.*]] = arith.constant dense<6> : tensor<1xi32>
// CHECK:         %[[A:.*]] = fovea.mask_length %[[N]]
// CHECK:         %[[B:.*]] = fovea.mask_window left(2) right(0)
// CHECK:         %[[M:.*]] = fovea.mask_and(%[[A]], %[[B]])
// CHECK:         fovea.attention {{.*}} mask(%[[M]])
func.func @window_and_length(%x: tensor<2x8x4xf32>) -> tensor<2x8x4xf32> {
  %t = arith.constant dense<[[true,false,false,false,false,false,false,false],
                           [true,true,false,false,false,false,false,false],
                           [true,true,true,false,false,false,false,false],
                           [false,true,true,true,false,false,false,false],
                           [false,false,true,true,true,false,false,false],
                           [false,false,false,true,true,true,false,false],
                           [false,false,false,false,true,true,false,false],
                           [false,false,false,false,false,true,false,false]]> : tensor<8x8xi1>
  %y = func.call @attend(%x, %t) : (tensor<2x8x4xf32>, tensor<8x8xi1>) -> tensor<2x8x4xf32>
  return %y : tensor<2x8x4xf32>
}

// CHECK-LABEL: @window_and_length_open(
// CHECK:         %[[N:.*]] = arith.constant dense<6> : tensor<1xi32>
// CHECK:         %[[A:.*]] = fovea.mask_length %[[N]]
// CHECK:         %[[B:.*]] = fovea.mask_window left(2) right(0)
// CHECK:         %[[M:.*]] = fovea.mask_and(%[[A]], %[[B]])
// CHECK:         fovea.attention {{.*}} mask(%[[M]])
func.func @window_and_length_open(%x: tensor<2x?x4xf32>) -> tensor<2x?x4xf32> {
  %c1 = arith.constant 1 : index
  %c3 = arith.constant 3 : index
  %c6 = arith.constant 6 : index
  %n = tensor.dim %x, %c1 : tensor<2x?x4xf32>
  %t = tensor.generate %n, %n {
  ^bb0(%i: index, %j: index):
    %l = arith.cmpi slt, %j, %c6 : index
    %u = arith.cmpi sle, %j, %i : index
    %d = arith.subi %i, %j : index
    %w = arith.cmpi slt, %d, %c3 : index
    %a = arith.andi %l, %u : i1
    %r = arith.andi %a, %w : i1
    tensor.yield %r : i1
  } : tensor<?x?xi1>
  %y = func.call @attend_open(%x, %t) : (tensor<2x?x4xf32>, tensor<?x?xi1>) -> tensor<2x?x4xf32>
  return %y : tensor<2x?x4xf32>
}
