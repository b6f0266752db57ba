// RUN: fovea-opt %s --fovea-raise-attention --canonicalize --cse | FileCheck %s

// A factor that keys decide stays with its softmax of the sum, in that attention.

#q = affine_map<(h, i, j, d) -> (h, i, d)>
#k = affine_map<(h, i, j, d) -> (h, j, d)>
#s = affine_map<(h, i, j, d) -> (h, i, j)>
#p = affine_map<(h, i, d, j) -> (h, i, j)>
#v = affine_map<(h, i, d, j) -> (h, j, d)>
#o = affine_map<(h, i, d, j) -> (h, i, d)>
#id = affine_map<(h, i, j) -> (h, i, j)>

// CHECK-LABEL: @factor_of_keys
// CHECK-NOT:     linalg.softmax
// CHECK:         fovea.attention
// CHECK:         fovea.attention {{.*}} probability(
func.func @factor_of_keys(%q: tensor<4x?x8xf32>, %k: tensor<4x?x8xf32>, %r: tensor<4x?x8xf32>, %l: tensor<4x?x8xf32>, %v: tensor<4x?x6xf32>, %lambda: tensor<4xf32>, %gain: tensor<?xf32>) -> tensor<4x?x6xf32> {
  %c1 = arith.constant 1 : index
  %zero = arith.constant 0.0 : f32
  %n = tensor.dim %q, %c1 : tensor<4x?x8xf32>
  %m = tensor.dim %k, %c1 : tensor<4x?x8xf32>
  %es = tensor.empty(%n, %m) : tensor<4x?x?xf32>
  %zs = linalg.fill ins(%zero : f32) outs(%es : tensor<4x?x?xf32>) -> tensor<4x?x?xf32>
  %s = linalg.contract indexing_maps = [#q, #k, #s] ins(%q, %k : tensor<4x?x8xf32>, tensor<4x?x8xf32>) outs(%zs : tensor<4x?x?xf32>) -> tensor<4x?x?xf32>
  %t = linalg.contract indexing_maps = [#q, #k, #s] ins(%r, %l : tensor<4x?x8xf32>, tensor<4x?x8xf32>) outs(%zs : tensor<4x?x?xf32>) -> tensor<4x?x?xf32>
  %p1 = linalg.softmax dimension(2) ins(%s : tensor<4x?x?xf32>) outs(%es : tensor<4x?x?xf32>) -> tensor<4x?x?xf32>
  %p2 = linalg.softmax dimension(2) ins(%t : tensor<4x?x?xf32>) outs(%es : tensor<4x?x?xf32>) -> tensor<4x?x?xf32>
  %b = linalg.generic {indexing_maps = [#id, affine_map<(h, i, j) -> (j)>, #id], iterator_types = ["parallel", "parallel", "parallel"]} ins(%p2, %gain : tensor<4x?x?xf32>, tensor<?xf32>) outs(%es : tensor<4x?x?xf32>) {
  ^bb0(%a: f32, %f: f32, %unused: f32):
    %y = arith.mulf %f, %a : f32
    linalg.yield %y : f32
  } -> tensor<4x?x?xf32>
  %w = arith.addf %p1, %b : tensor<4x?x?xf32>
  %eo = tensor.empty(%n) : tensor<4x?x6xf32>
  %zo = linalg.fill ins(%zero : f32) outs(%eo : tensor<4x?x6xf32>) -> tensor<4x?x6xf32>
  %o = linalg.contract indexing_maps = [#p, #v, #o] ins(%w, %v : tensor<4x?x?xf32>, tensor<4x?x6xf32>) outs(%zo : tensor<4x?x6xf32>) -> tensor<4x?x6xf32>
  return %o : tensor<4x?x6xf32>
}
