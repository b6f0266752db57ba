// RUN: fovea-opt %s --fovea-raise-attention --canonicalize --cse | FileCheck %s

// Several texts in one row, told apart by jumps of the position: positions that are given may jump.

// CHECK-LABEL: @may_jump
// CHECK-DAG:     fovea.mask_causal
// CHECK-DAG:     fovea.mask_{{dense|segment}}
// CHECK:         fovea.mask_and
#q = affine_map<(b,h,i,j,d) -> (b,i,h,d)>
#k = affine_map<(b,h,i,j,d) -> (b,j,h,d)>
#s = affine_map<(b,h,i,j,d) -> (b,h,i,j)>
#s2 = affine_map<(b,i,h,d,j) -> (b,h,i,j)>
#v = affine_map<(b,i,h,d,j) -> (b,j,h,d)>
#o = affine_map<(b,i,h,d,j) -> (b,i,h,d)>
#id = affine_map<(a,b,c,d) -> (a,b,c,d)>
#square = affine_map<(a,b) -> (a,b)>
#rows = affine_map<(a,b) -> (a)>
func.func @may_jump(%x: tensor<?x?x2x8xf32> {fovea.name="x", fovea.dims=["batch","sequence"]}, %places: tensor<?xi64> {fovea.name="places", fovea.dims=["longer"]}) -> (tensor<?x?x2x8xf32> {fovea.name="o", fovea.dims=["batch","sequence"]}) attributes {fovea.entry} {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %none = arith.constant 0 : i64
  %one = arith.constant 1 : i64
  %zero = arith.constant 0.0 : f32
  %low = arith.constant -3.40282347E+38 : f32
  %b = tensor.dim %x, %c0 : tensor<?x?x2x8xf32>
  %n = tensor.dim %x, %c1 : tensor<?x?x2x8xf32>
  %en = tensor.empty(%n) : tensor<?xi64>
  %enn = tensor.empty(%n, %n) : tensor<?x?xi64>
  %starts = linalg.generic {indexing_maps = [#square], iterator_types = ["parallel", "parallel"]} outs(%enn : tensor<?x?xi64>) {
  ^bb0(%out: i64):
    %i = linalg.index 0 : index
    %j = linalg.index 1 : index
    %next = arith.addi %j, %c1 : index
    %here = tensor.extract %places[%j] : tensor<?xi64>
    %bounded = arith.minsi %next, %n : index
    %there = tensor.extract %places[%bounded] : tensor<?xi64>
    %step = arith.subi %there, %here : i64
    %starts = arith.cmpi ne, %step, %one : i64
    %before = arith.cmpi slt, %j, %i : index
    %counts = arith.andi %starts, %before : i1
    %number = arith.extui %counts : i1 to i64
    linalg.yield %number : i64
  } -> tensor<?x?xi64>
  %zn = linalg.fill ins(%none : i64) outs(%en : tensor<?xi64>) -> tensor<?xi64>
  %text = linalg.reduce {arith.addi} ins(%starts : tensor<?x?xi64>) outs(%zn : tensor<?xi64>) dimensions = [1]
  %es = tensor.empty(%b, %n, %n) : tensor<?x2x?x?xf32>
  %zs = linalg.fill ins(%zero : f32) outs(%es : tensor<?x2x?x?xf32>) -> tensor<?x2x?x?xf32>
  %s = linalg.contract indexing_maps = [#q, #k, #s] ins(%x, %x : tensor<?x?x2x8xf32>, tensor<?x?x2x8xf32>) outs(%zs : tensor<?x2x?x?xf32>) -> tensor<?x2x?x?xf32>
  %masked = linalg.generic {indexing_maps = [#id, #id], iterator_types = ["parallel", "parallel", "parallel", "parallel"]} ins(%s : tensor<?x2x?x?xf32>) outs(%es : tensor<?x2x?x?xf32>) {
  ^bb0(%a: f32, %out: f32):
    %i = linalg.index 2 : index
    %j = linalg.index 3 : index
    %ofquery = tensor.extract %text[%i] : tensor<?xi64>
    %ofkey = tensor.extract %text[%j] : tensor<?xi64>
    %same = arith.cmpi eq, %ofquery, %ofkey : i64
    %causal = arith.cmpi sle, %j, %i : index
    %allowed = arith.andi %same, %causal : i1
    %r = arith.select %allowed, %a, %low : f32
    linalg.yield %r : f32
  } -> tensor<?x2x?x?xf32>
  %p = linalg.softmax dimension(3) ins(%masked : tensor<?x2x?x?xf32>) outs(%es : tensor<?x2x?x?xf32>) -> tensor<?x2x?x?xf32>
  %eo = tensor.empty(%b, %n) : tensor<?x?x2x8xf32>
  %zo = linalg.fill ins(%zero : f32) outs(%eo : tensor<?x?x2x8xf32>) -> tensor<?x?x2x8xf32>
  %o = linalg.contract indexing_maps = [#s2, #v, #o] ins(%p, %x : tensor<?x2x?x?xf32>, tensor<?x?x2x8xf32>) outs(%zo : tensor<?x?x2x8xf32>) -> tensor<?x?x2x8xf32>
  return %o : tensor<?x?x2x8xf32>
}
