// RUN: cat %S/Inputs/attend.mlir %s | fovea-opt --inline --fovea-raise-attention --canonicalize --cse | FileCheck %s

// A table of booleans that allows the first six keys to each query is a length.

// CHECK-LABEL: @length(
// CHECK:         %[[N:.*]] = arith.constant dense<6> : tensor<1xi32>
// CHECK:         %[[M:.*]] = fovea.mask_length %[[N]]
// CHECK:         fovea.attention {{.*}} mask(%[[M]])
func.func @length(%x: tensor<2x8x4xf32>) -> tensor<2x8x4xf32> {
  %t = arith.constant dense<[[true,true,true,true,true,true,false,false],
                           [true,true,true,true,true,true,false,false],
                           [true,true,true,true,true,true,false,false],
                           [true,true,true,true,true,true,false,false],
                           [true,true,true,true,true,true,false,false],
                           [true,true,true,true,true,true,false,false],
                           [true,true,true,true,true,true,false,false],
                           [true,true,true,true,true,true,false,false]]> : tensor<8x8xi1>
  %y = func.call @attend(%x, %t) : (tensor<2x8x4xf32>, tensor<8x8xi1>) -> tensor<2x8x4xf32>
  return %y : tensor<2x8x4xf32>
}

// CHECK-LABEL: @length_open(
// CHECK:         %[[N:.*]] = arith.constant dense<6> : tensor<1xi32>
// CHECK:         %[[M:.*]] = fovea.mask_length %[[N]]
// CHECK:         fovea.attention {{.*}} mask(%[[M]])
func.func @length_open(%x: tensor<2x?x4xf32>) -> tensor<2x?x4xf32> {
  %c1 = arith.constant 1 : index
  %c6 = arith.constant 6 : index
  %n = tensor.dim %x, %c1 : tensor<2x?x4xf32>
  %t = tensor.generate %n, %n {
  ^bb0(%i: index, %j: index):
    %r = arith.cmpi slt, %j, %c6 : index
    tensor.yield %r : i1
  } : tensor<?x?xi1>
  %y = func.call @attend_open(%x, %t) : (tensor<2x?x4xf32>, tensor<?x?xi1>) -> tensor<2x?x4xf32>
  return %y : tensor<2x?x4xf32>
}
