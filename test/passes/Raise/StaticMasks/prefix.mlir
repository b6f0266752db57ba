// RUN: cat %S/Inputs/attend.mlir %s | fovea-opt --inline --fovea-raise-attention --canonicalize --cse | FileCheck %s

// Causal, with the first three keys open to all: a prefix.

// CHECK-LABEL: @prefix(
// CHECK:         %[[N:.*]] = arith.constant dense<3> : tensor<1xi32>
// CHECK:         %[[M:.*]] = fovea.mask_prefix %[[N]]
// CHECK:         fovea.attention {{.*}} mask(%[[M]])
func.func @prefix(%x: tensor<2x8x4xf32>) -> tensor<2x8x4xf32> {
  %t = arith.constant dense<[[true,true,true,false,false,false,false,false],
                           [true,true,true,false,false,false,false,false],
                           [true,true,true,false,false,false,false,false],
                           [true,true,true,true,false,false,false,false],
                           [true,true,true,true,true,false,false,false],
                           [true,true,true,true,true,true,false,false],
                           [true,true,true,true,true,true,true,false],
                           [true,true,true,true,true,true,true,true]]> : tensor<8x8xi1>
  %y = func.call @attend(%x, %t) : (tensor<2x8x4xf32>, tensor<8x8xi1>) -> tensor<2x8x4xf32>
  return %y : tensor<2x8x4xf32>
}

// CHECK-LABEL: @prefix_open(
// CHECK:         %[[N:.*]] = arith.constant dense<3> : tensor<1xi32>
// CHECK:         %[[M:.*]] = fovea.mask_prefix %[[N]]
// CHECK:         fovea.attention {{.*}} mask(%[[M]])
func.func @prefix_open(%x: tensor<2x?x4xf32>) -> tensor<2x?x4xf32> {
  %c1 = arith.constant 1 : index
  %c3 = arith.constant 3 : index
  %n = tensor.dim %x, %c1 : tensor<2x?x4xf32>
  %t = tensor.generate %n, %n {
  ^bb0(%i: index, %j: index):
    %a = arith.cmpi slt, %j, %c3 : index
    %b = arith.cmpi sle, %j, %i : index
    %r = arith.ori %a, %b : i1
    tensor.yield %r : i1
  } : tensor<?x?xi1>
  %y = func.call @attend_open(%x, %t) : (tensor<2x?x4xf32>, tensor<?x?xi1>) -> tensor<2x?x4xf32>
  return %y : tensor<2x?x4xf32>
}
