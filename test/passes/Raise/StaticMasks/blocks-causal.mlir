// RUN: cat %S/Inputs/attend.mlir %s | fovea-opt --inline --fovea-raise-attention --canonicalize --cse | FileCheck %s

// Causal inside blocks along the diagonal.

// CHECK-LABEL: @blocks_causal(
// CHECK:         %[[A:.*]] = fovea.mask_causal
// CHECK:         %[[B:.*]] = fovea.mask_segment %[[IDS:.*]], %[[IDS]] :
// CHECK:         %[[M:.*]] = fovea.mask_and(%[[A]], %[[B]])
// CHECK:         fovea.attention {{.*}} mask(%[[M]])
func.func @blocks_causal(%x: tensor<2x8x4xf32>) -> tensor<2x8x4xf32> {
  %t = arith.constant dense<[[true,false,false,false,false,false,false,false],
                           [true,true,false,false,false,false,false,false],
                           [true,true,true,false,false,false,false,false],
                           [false,false,false,true,false,false,false,false],
                           [false,false,false,true,true,false,false,false],
                           [false,false,false,true,true,true,false,false],
                           [false,false,false,false,false,false,true,false],
                           [false,false,false,false,false,false,true,true]]> : tensor<8x8xi1>
  %y = func.call @attend(%x, %t) : (tensor<2x8x4xf32>, tensor<8x8xi1>) -> tensor<2x8x4xf32>
  return %y : tensor<2x8x4xf32>
}

// CHECK-LABEL: @blocks_causal_open(
// CHECK:         %[[A:.*]] = fovea.mask_causal
// CHECK:         %[[B:.*]] = fovea.mask_segment %[[IDS:.*]], %[[IDS]] :
// CHECK:         %[[M:.*]] = fovea.mask_and(%[[A]], %[[B]])
// CHECK:         fovea.attention {{.*}} mask(%[[M]])
func.func @blocks_causal_open(%x: tensor<2x?x4xf32>) -> tensor<2x?x4xf32> {
  %c1 = arith.constant 1 : index
  %c3 = arith.constant 3 : index
  %n = tensor.dim %x, %c1 : tensor<2x?x4xf32>
  %t = tensor.generate %n, %n {
  ^bb0(%i: index, %j: index):
    %a = arith.floordivsi %i, %c3 : index
    %b = arith.floordivsi %j, %c3 : index
    %e = arith.cmpi eq, %a, %b : index
    %l = arith.cmpi sle, %j, %i : index
    %r = arith.andi %l, %e : i1
    tensor.yield %r : i1
  } : tensor<?x?xi1>
  %y = func.call @attend_open(%x, %t) : (tensor<2x?x4xf32>, tensor<?x?xi1>) -> tensor<2x?x4xf32>
  return %y : tensor<2x?x4xf32>
}
