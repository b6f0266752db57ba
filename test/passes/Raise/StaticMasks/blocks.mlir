// RUN: cat %S/Inputs/attend.mlir %s | fovea-opt --inline --fovea-raise-attention --canonicalize --cse | FileCheck %s

// Square blocks along the diagonal are segments.

// CHECK-LABEL: @blocks(
// CHECK:         %[[M:.*]] = fovea.mask_segment %[[IDS:.*]], %[[IDS]] :
// CHECK:         fovea.attention {{.*}} mask(%[[M]])
func.func @blocks(%x: tensor<2x8x4xf32>) -> tensor<2x8x4xf32> {
  %t = arith.constant dense<[[true,true,true,false,false,false,false,false],
                           [true,true,true,false,false,false,false,false],
                           [true,true,true,false,false,false,false,false],
                           [false,false,false,true,true,true,false,false],
                           [false,false,false,true,true,true,false,false],
                           [false,false,false,true,true,true,false,false],
                           [false,false,false,false,false,false,true,true],
                           [false,false,false,false,false,false,true,true]]> : tensor<8x8xi1>
  %y = func.call @attend(%x, %t) : (tensor<2x8x4xf32>, tensor<8x8xi1>) -> tensor<2x8x4xf32>
  return %y : tensor<2x8x4xf32>
}

// CHECK-LABEL: @blocks_open(
// CHECK:         %[[M:.*]] = fovea.mask_segment %[[IDS:.*]], %[[IDS]] :
// CHECK:         fovea.attention {{.*}} mask(%[[M]])
func.func @blocks_open(%x: tensor<2x?x4xf32>) -> tensor<2x?x4xf32> {
  %c1 = arith.constant 1 : index
  %c3 = arith.constant 3 : index
  %n = tensor.dim %x, %c1 : tensor<2x?x4xf32>
  %t = tensor.generate %n, %n {
  ^bb0(%i: index, %j: index):
    %a = arith.floordivsi %i, %c3 : index
    %b = arith.floordivsi %j, %c3 : index
    %r = arith.cmpi eq, %a, %b : index
    tensor.yield %r : i1
  } : tensor<?x?xi1>
  %y = func.call @attend_open(%x, %t) : (tensor<2x?x4xf32>, tensor<?x?xi1>) -> tensor<2x?x4xf32>
  return %y : tensor<2x?x4xf32>
}
