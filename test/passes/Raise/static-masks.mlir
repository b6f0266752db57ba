// RUN: fovea-opt %s --inline --fovea-raise-attention --canonicalize --cse | FileCheck %s

// What exporters make of masks of places when they know all sizes: tables of booleans, or of
// places. Each becomes what the same mask becomes where the size is open.

#q = affine_map<(b,i,j,d) -> (b,i,d)>
#k = affine_map<(b,i,j,d) -> (b,j,d)>
#s = affine_map<(b,i,j,d) -> (b,i,j)>
#p = affine_map<(b,i,d,j) -> (b,i,j)>
#v = affine_map<(b,i,d,j) -> (b,j,d)>
#o = affine_map<(b,i,d,j) -> (b,i,d)>
#id = affine_map<(a,b,c) -> (a,b,c)>
#table = affine_map<(b,i,j) -> (i,j)>
func.func private @attend(%x: tensor<2x8x4xf32>, %allowed: tensor<8x8xi1>) -> tensor<2x8x4xf32> {
  %low = arith.constant -1.0e+09 : f32
  %zero = arith.constant 0.0 : f32
  %es = tensor.empty() : tensor<2x8x8xf32>
  %zs = linalg.fill ins(%zero : f32) outs(%es : tensor<2x8x8xf32>) -> tensor<2x8x8xf32>
  %s = linalg.contract indexing_maps=[#q,#k,#s] ins(%x,%x : tensor<2x8x4xf32>,tensor<2x8x4xf32>) outs(%zs : tensor<2x8x8xf32>) -> tensor<2x8x8xf32>
  %m = linalg.generic {indexing_maps=[#table,#id,#id], iterator_types=["parallel","parallel","parallel"]} ins(%allowed,%s : tensor<8x8xi1>,tensor<2x8x8xf32>) outs(%es : tensor<2x8x8xf32>) {
  ^bb0(%c: i1, %a: f32, %o: f32):
    %r = arith.select %c, %a, %low : f32
    linalg.yield %r : f32
  } -> tensor<2x8x8xf32>
  %p = linalg.softmax dimension(2) ins(%m : tensor<2x8x8xf32>) outs(%es : tensor<2x8x8xf32>) -> tensor<2x8x8xf32>
  %ev = tensor.empty() : tensor<2x8x4xf32>
  %zv = linalg.fill ins(%zero : f32) outs(%ev : tensor<2x8x4xf32>) -> tensor<2x8x4xf32>
  %y = linalg.contract indexing_maps=[#p,#v,#o] ins(%p,%x : tensor<2x8x8xf32>,tensor<2x8x4xf32>) outs(%zv : tensor<2x8x4xf32>) -> tensor<2x8x4xf32>
  return %y : tensor<2x8x4xf32>
}
func.func private @attend_open(%x: tensor<2x?x4xf32>, %allowed: tensor<?x?xi1>) -> tensor<2x?x4xf32> {
  %c1 = arith.constant 1 : index
  %n = tensor.dim %x, %c1 : tensor<2x?x4xf32>
  %low = arith.constant -1.0e+09 : f32
  %zero = arith.constant 0.0 : f32
  %es = tensor.empty(%n,%n) : tensor<2x?x?xf32>
  %zs = linalg.fill ins(%zero : f32) outs(%es : tensor<2x?x?xf32>) -> tensor<2x?x?xf32>
  %s = linalg.contract indexing_maps=[#q,#k,#s] ins(%x,%x : tensor<2x?x4xf32>,tensor<2x?x4xf32>) outs(%zs : tensor<2x?x?xf32>) -> tensor<2x?x?xf32>
  %m = linalg.generic {indexing_maps=[#table,#id,#id], iterator_types=["parallel","parallel","parallel"]} ins(%allowed,%s : tensor<?x?xi1>,tensor<2x?x?xf32>) outs(%es : tensor<2x?x?xf32>) {
  ^bb0(%c: i1, %a: f32, %o: f32):
    %r = arith.select %c, %a, %low : f32
    linalg.yield %r : f32
  } -> tensor<2x?x?xf32>
  %p = linalg.softmax dimension(2) ins(%m : tensor<2x?x?xf32>) outs(%es : tensor<2x?x?xf32>) -> tensor<2x?x?xf32>
  %ev = tensor.empty(%n) : tensor<2x?x4xf32>
  %zv = linalg.fill ins(%zero : f32) outs(%ev : tensor<2x?x4xf32>) -> tensor<2x?x4xf32>
  %y = linalg.contract indexing_maps=[#p,#v,#o] ins(%p,%x : tensor<2x?x?xf32>,tensor<2x?x4xf32>) outs(%zv : tensor<2x?x4xf32>) -> tensor<2x?x4xf32>
  return %y : tensor<2x?x4xf32>
}

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

// CHECK-LABEL: @every_third(
// CHECK:         %[[A:.*]] = fovea.mask_causal
// CHECK:         %[[B:.*]] = fovea.mask_segment %[[IDS:.*]], %[[IDS]] :
// CHECK:         %[[M:.*]] = fovea.mask_and(%[[A]], %[[B]])
// CHECK:         fovea.attention {{.*}} mask(%[[M]])
func.func @every_third(%x: tensor<2x8x4xf32>) -> tensor<2x8x4xf32> {
  %t = arith.constant dense<[[true,false,false,false,false,false,false,false],
                           [false,true,false,false,false,false,false,false],
                           [false,false,true,false,false,false,false,false],
                           [true,false,false,true,false,false,false,false],
                           [false,true,false,false,true,false,false,false],
                           [false,false,true,false,false,true,false,false],
                           [true,false,false,true,false,false,true,false],
                           [false,true,false,false,true,false,false,true]]> : tensor<8x8xi1>
  %y = func.call @attend(%x, %t) : (tensor<2x8x4xf32>, tensor<8x8xi1>) -> tensor<2x8x4xf32>
  return %y : tensor<2x8x4xf32>
}
// CHECK-LABEL: @every_third_open(
// CHECK:         %[[A:.*]] = fovea.mask_causal
// CHECK:         %[[B:.*]] = fovea.mask_segment %[[IDS:.*]], %[[IDS]] :
// CHECK:         %[[M:.*]] = fovea.mask_and(%[[A]], %[[B]])
// CHECK:         fovea.attention {{.*}} mask(%[[M]])
func.func @every_third_open(%x: tensor<2x?x4xf32>) -> tensor<2x?x4xf32> {
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
    %a = arith.cmpi eq, %s, %c0 : index
    %l = arith.cmpi sle, %j, %i : index
    %r = arith.andi %l, %a : i1
    tensor.yield %r : i1
  } : tensor<?x?xi1>
  %y = func.call @attend_open(%x, %t) : (tensor<2x?x4xf32>, tensor<?x?xi1>) -> tensor<2x?x4xf32>
  return %y : tensor<2x?x4xf32>
}

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

// The caller's length beside places that are a table.
// CHECK-LABEL: @length_of_an_argument(
// CHECK:         %[[M:.*]] = fovea.mask_length
// CHECK:         fovea.attention {{.*}} mask(%[[M]])
func.func @length_of_an_argument(%x: tensor<2x8x4xf32>, %n: tensor<i64>) -> tensor<2x8x4xf32> {
  %places = arith.constant dense<[0, 1, 2, 3, 4, 5, 6, 7]> : tensor<8xi64>
  %e = tensor.empty() : tensor<8x8xi1>
  %t = linalg.generic {indexing_maps=[affine_map<(i,j) -> (j)>,affine_map<(i,j) -> ()>,affine_map<(i,j) -> (i,j)>], iterator_types=["parallel","parallel"]} ins(%places,%n : tensor<8xi64>,tensor<i64>) outs(%e : tensor<8x8xi1>) {
  ^bb0(%j: i64, %l: i64, %o: i1):
    %r = arith.cmpi slt, %j, %l : i64
    linalg.yield %r : i1
  } -> tensor<8x8xi1>
  %y = func.call @attend(%x, %t) : (tensor<2x8x4xf32>, tensor<8x8xi1>) -> tensor<2x8x4xf32>
  return %y : tensor<2x8x4xf32>
}

// A table that does not count stays one.
// CHECK-LABEL: @places_but_for_one(
// CHECK:         %[[M:.*]] = fovea.mask_dense
// CHECK:         fovea.attention {{.*}} mask(%[[M]])
func.func @places_but_for_one(%x: tensor<2x8x4xf32>, %n: tensor<i64>) -> tensor<2x8x4xf32> {
  %places = arith.constant dense<[0, 1, 2, 3, 4, 5, 7, 6]> : tensor<8xi64>
  %e = tensor.empty() : tensor<8x8xi1>
  %t = linalg.generic {indexing_maps=[affine_map<(i,j) -> (j)>,affine_map<(i,j) -> ()>,affine_map<(i,j) -> (i,j)>], iterator_types=["parallel","parallel"]} ins(%places,%n : tensor<8xi64>,tensor<i64>) outs(%e : tensor<8x8xi1>) {
  ^bb0(%j: i64, %l: i64, %o: i1):
    %r = arith.cmpi slt, %j, %l : i64
    linalg.yield %r : i1
  } -> tensor<8x8xi1>
  %y = func.call @attend(%x, %t) : (tensor<2x8x4xf32>, tensor<8x8xi1>) -> tensor<2x8x4xf32>
  return %y : tensor<2x8x4xf32>
}

// Places as floats, from another number on.
// CHECK-LABEL: @places_as_floats(
// CHECK:         %[[M:.*]] = fovea.mask_causal
// CHECK:         fovea.attention {{.*}} mask(%[[M]])
func.func @places_as_floats(%x: tensor<2x8x4xf32>) -> tensor<2x8x4xf32> {
  %rows = arith.constant dense<[[3.0],[4.0],[5.0],[6.0],[7.0],[8.0],[9.0],[10.0]]> : tensor<8x1xf32>
  %columns = arith.constant dense<[3.0,4.0,5.0,6.0,7.0,8.0,9.0,10.0]> : tensor<8xf32>
  %e = tensor.empty() : tensor<8x8xi1>
  %t = linalg.generic {indexing_maps=[affine_map<(i,j) -> (i,0)>,affine_map<(i,j) -> (j)>,affine_map<(i,j) -> (i,j)>], iterator_types=["parallel","parallel"]} ins(%rows,%columns : tensor<8x1xf32>,tensor<8xf32>) outs(%e : tensor<8x8xi1>) {
  ^bb0(%i: f32, %j: f32, %o: i1):
    %r = arith.cmpf ole, %j, %i : f32
    linalg.yield %r : i1
  } -> tensor<8x8xi1>
  %y = func.call @attend(%x, %t) : (tensor<2x8x4xf32>, tensor<8x8xi1>) -> tensor<2x8x4xf32>
  return %y : tensor<2x8x4xf32>
}
