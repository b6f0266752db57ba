// RUN: cat %S/Inputs/attend.mlir %s | fovea-opt --inline --fovea-raise-attention --canonicalize --cse | FileCheck %s

// Segments of queries and of keys that differ: each query sees every third key, but not its own place.

// CHECK-LABEL: @every_third_but_one(
// CHECK:         %[[M:.*]] = fovea.mask_segment %[[IDS:.*]], %[[OTHERS:.*]] :
// CHECK:         fovea.attention {{.*}} mask(%[[M]])
func.func @every_third_but_one(%x: tensor<2x8x4xf32>) -> tensor<2x8x4xf32> {
  %t = arith.constant dense<[[false,false,true,false,false,true,false,false],
                           [true,false,false,true,false,false,true,false],
                           [false,true,false,false,true,false,false,true],
                           [false,false,true,false,false,true,false,false],
                           [true,false,false,true,false,false,true,false],
                           [false,true,false,false,true,false,false,true],
                           [false,false,true,false,false,true,false,false],
                           [true,false,false,true,false,false,true,false]]> : tensor<8x8xi1>
  %y = func.call @attend(%x, %t) : (tensor<2x8x4xf32>, tensor<8x8xi1>) -> tensor<2x8x4xf32>
  return %y : tensor<2x8x4xf32>
}

// CHECK-LABEL: @every_third_but_one_open(
// CHECK:         %[[M:.*]] = fovea.mask_segment %[[IDS:.*]], %[[OTHERS:.*]] :
// CHECK:         fovea.attention {{.*}} mask(%[[M]])
func.func @every_third_but_one_open(%x: tensor<2x?x4xf32>) -> tensor<2x?x4xf32> {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %c3 = arith.constant 3 : index
  %n = tensor.dim %x, %c1 : tensor<2x?x4xf32>
  %t = tensor.generate %n, %n {
  ^bb0(%i: index, %j: index):
    %d = arith.subi %i, %j : index
    %m = arith.remsi %d, %c3 : index
    %n0 = arith.cmpi slt, %m, %c0 : index
    %p = arith.addi %m, %c3 : index
    %s = arith.select %n0, %p, %m : index
    %r = arith.cmpi eq, %s, %c1 : index
    tensor.yield %r : i1
  } : tensor<?x?xi1>
  %y = func.call @attend_open(%x, %t) : (tensor<2x?x4xf32>, tensor<?x?xi1>) -> tensor<2x?x4xf32>
  return %y : tensor<2x?x4xf32>
}
