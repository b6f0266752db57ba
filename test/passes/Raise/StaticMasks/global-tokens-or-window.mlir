// RUN: cat %S/Inputs/attend.mlir %s | fovea-opt --inline --fovea-raise-attention --canonicalize --cse | FileCheck %s

// CHECK-LABEL: @global_tokens(
// CHECK:         %[[A:.*]] = fovea.mask_global tokens(2)
// CHECK:         %[[B:.*]] = fovea.mask_window left(1) right(1)
// CHECK:         %[[M:.*]] = fovea.mask_or(%[[A]], %[[B]])
// CHECK:         fovea.attention {{.*}} mask(%[[M]])
func.func @global_tokens(%x: tensor<2x8x4xf32>) -> tensor<2x8x4xf32> {
  %t = arith.constant dense<[[true,true,true,true,true,true,true,true],
                           [true,true,true,true,true,true,true,true],
                           [true,true,true,true,false,false,false,false],
                           [true,true,true,true,true,false,false,false],
                           [true,true,false,true,true,true,false,false],
                           [true,true,false,false,true,true,true,false],
                           [true,true,false,false,false,true,true,true],
                           [true,true,false,false,false,false,true,true]]> : tensor<8x8xi1>
  %y = func.call @attend(%x, %t) : (tensor<2x8x4xf32>, tensor<8x8xi1>) -> tensor<2x8x4xf32>
  return %y : tensor<2x8x4xf32>
}

// CHECK-LABEL: @global_tokens_open(
// CHECK:         %[[A:.*]] = fovea.mask_global tokens(2)
// CHECK:         %[[B:.*]] = fovea.mask_window left(1) right(1)
// CHECK:         %[[M:.*]] = fovea.mask_or(%[[A]], %[[B]])
// CHECK:         fovea.attention {{.*}} mask(%[[M]])
func.func @global_tokens_open(%x: tensor<2x?x4xf32>) -> tensor<2x?x4xf32> {
  %c1 = arith.constant 1 : index
  %c2 = arith.constant 2 : index
  %n = tensor.dim %x, %c1 : tensor<2x?x4xf32>
  %t = tensor.generate %n, %n {
  ^bb0(%i: index, %j: index):
    %a = arith.cmpi slt, %i, %c2 : index
    %b = arith.cmpi slt, %j, %c2 : index
    %ab = arith.ori %a, %b : i1
    %d = arith.subi %i, %j : index
    %e = math.absi %d : index
    %c = arith.cmpi sle, %e, %c1 : index
    %r = arith.ori %ab, %c : i1
    tensor.yield %r : i1
  } : tensor<?x?xi1>
  %y = func.call @attend_open(%x, %t) : (tensor<2x?x4xf32>, tensor<?x?xi1>) -> tensor<2x?x4xf32>
  return %y : tensor<2x?x4xf32>
}
