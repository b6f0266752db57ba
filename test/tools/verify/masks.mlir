// RUN: fovea verify %s --quiet | FileCheck %s

// A mask adds -10000. Scores that are larger outweigh it in the source; what is compiled takes it for "never". It agrees with that reading, and says so.

// CHECK-NOT: DEPARTS
// CHECK: note: 'forward' agrees if what is masked by a number below -5000 is never seen
// CHECK: 11 outputs agree

#q = affine_map<(b, i, j, d) -> (b, i, d)>
#k = affine_map<(b, i, j, d) -> (b, j, d)>
#p = affine_map<(b, i, j, d) -> (b, i, j)>
#w = affine_map<(b, i, d, j) -> (b, i, j)>
#v = affine_map<(b, i, d, j) -> (b, j, d)>
#o = affine_map<(b, i, d, j) -> (b, i, d)>
#id = affine_map<(b, i, j) -> (b, i, j)>
func.func @forward(%x: tensor<?x?x8xf32> {fovea.name = "x", fovea.dims = ["batch", "length"]}, %k: tensor<?x?x8xf32> {fovea.name = "k", fovea.dims = ["batch", "length"]}) -> (tensor<?x?x8xf32> {fovea.name = "y", fovea.dims = ["batch", "length"]}) attributes {fovea.entry} {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %zero = arith.constant 0.0 : f32
  %batch = tensor.dim %x, %c0 : tensor<?x?x8xf32>
  %length = tensor.dim %x, %c1 : tensor<?x?x8xf32>
  %e = tensor.empty(%batch, %length, %length) : tensor<?x?x?xf32>
  %z = linalg.fill ins(%zero : f32) outs(%e : tensor<?x?x?xf32>) -> tensor<?x?x?xf32>
  %s = linalg.contract indexing_maps = [#q, #k, #p] ins(%x, %k : tensor<?x?x8xf32>, tensor<?x?x8xf32>) outs(%z : tensor<?x?x?xf32>) -> tensor<?x?x?xf32>
  %m = linalg.generic {indexing_maps = [#id, #id], iterator_types = ["parallel", "parallel", "parallel"]} ins(%s : tensor<?x?x?xf32>) outs(%e : tensor<?x?x?xf32>) {
  ^bb0(%a: f32, %unused: f32):
    %never = arith.constant -1.0e4 : f32
    %nothing = arith.constant 0.0 : f32
    %i = linalg.index 1 : index
    %j = linalg.index 2 : index
    %after = arith.cmpi sgt, %j, %i : index
    %add = arith.select %after, %never, %nothing : f32
    %b = arith.addf %a, %add : f32
    linalg.yield %b : f32
  } -> tensor<?x?x?xf32>
  %p = linalg.softmax dimension(2) ins(%m : tensor<?x?x?xf32>) outs(%e : tensor<?x?x?xf32>) -> tensor<?x?x?xf32>
  %e2 = tensor.empty(%batch, %length) : tensor<?x?x8xf32>
  %z2 = linalg.fill ins(%zero : f32) outs(%e2 : tensor<?x?x8xf32>) -> tensor<?x?x8xf32>
  %y = linalg.contract indexing_maps = [#w, #v, #o] ins(%p, %x : tensor<?x?x?xf32>, tensor<?x?x8xf32>) outs(%z2 : tensor<?x?x8xf32>) -> tensor<?x?x8xf32>
  return %y : tensor<?x?x8xf32>
}
