// RUN: cat %S/Inputs/attend.mlir %s | fovea-opt --inline --fovea-raise-attention --canonicalize --cse | FileCheck %s

// Causal: a window and, beside it, the first key (attention sinks, arXiv 2309.17453).

// CHECK-LABEL: @first_keys_and_window(
// CHECK:         %[[N:.*]] = arith.constant dense<1> : tensor<1xi32>
// CHECK:         %[[A:.*]] = fovea.mask_causal
// CHECK:         %[[L:.*]] = fovea.mask_length %[[N]]
// CHECK:         %[[W:.*]] = fovea.mask_window left(2)
// CHECK:         %[[B:.*]] = fovea.mask_or(%[[L]], %[[W]])
// CHECK:         %[[M:.*]] = fovea.mask_and(%[[A]], %[[B]])
// CHECK:         fovea.attention {{.*}} mask(%[[M]])
func.func @first_keys_and_window(%x: tensor<2x8x4xf32>) -> tensor<2x8x4xf32> {
  %t = arith.constant dense<[[true,false,false,false,false,false,false,false],
                           [true,true,false,false,false,false,false,false],
                           [true,true,true,false,false,false,false,false],
                           [true,true,true,true,false,false,false,false],
                           [true,false,true,true,true,false,false,false],
                           [true,false,false,true,true,true,false,false],
                           [true,false,false,false,true,true,true,false],
                           [true,false,false,false,false,true,true,true]]> : tensor<8x8xi1>
  %y = func.call @attend(%x, %t) : (tensor<2x8x4xf32>, tensor<8x8xi1>) -> tensor<2x8x4xf32>
  return %y : tensor<2x8x4xf32>
}

// CHECK-LABEL: @first_keys_and_window_open(
// CHECK:         %[[N:.*]] = arith.constant dense<1> : tensor<1xi32>
// CHECK:         %[[A:.*]] = fovea.mask_causal
// CHECK:         %[[L:.*]] = fovea.mask_length %[[N]]
// CHECK:         %[[W:.*]] = fovea.mask_window left(2)
// CHECK:         %[[B:.*]] = fovea.mask_or(%[[L]], %[[W]])
// CHECK:         %[[M:.*]] = fovea.mask_and(%[[A]], %[[B]])
// CHECK:         fovea.attention {{.*}} mask(%[[M]])
func.func @first_keys_and_window_open(%x: tensor<2x?x4xf32>) -> tensor<2x?x4xf32> {
  %c1 = arith.constant 1 : index
  %c3 = arith.constant 3 : index
  %n = tensor.dim %x, %c1 : tensor<2x?x4xf32>
  %t = tensor.generate %n, %n {
  ^bb0(%i: index, %j: index):
    %a = arith.cmpi slt, %j, %c1 : index
    %d = arith.subi %i, %j : index
    %w = arith.cmpi slt, %d, %c3 : index
    %e = arith.ori %a, %w : i1
    %l = arith.cmpi sle, %j, %i : index
    %r = arith.andi %l, %e : i1
    tensor.yield %r : i1
  } : tensor<?x?xi1>
  %y = func.call @attend_open(%x, %t) : (tensor<2x?x4xf32>, tensor<?x?xi1>) -> tensor<2x?x4xf32>
  return %y : tensor<2x?x4xf32>
}
