// RUN: fovea-opt %s --fovea-raise-attention --canonicalize --cse | FileCheck %s

// A mask of the caller, as dropout in training has one.

#q = affine_map<(i, j, d) -> (i, d)>
#k = affine_map<(i, j, d) -> (j, d)>
#s = affine_map<(i, j, d) -> (i, j)>
#p = affine_map<(i, d, j) -> (i, j)>
#v = affine_map<(i, d, j) -> (j, d)>
#o = affine_map<(i, d, j) -> (i, d)>
#id = affine_map<(i, j) -> (i, j)>

// CHECK-LABEL: @dropout
// CHECK-NOT:     linalg.softmax
// CHECK:         fovea.attention {{.*}} probability(%{{.*}} : tensor<?x?xf32> by (d0, d1, d2, d3) -> (d2, d3)) {
// CHECK-NEXT:    ^bb0(%[[P:.*]]: f32, %[[M:.*]]: f32, %{{.*}}: index, %{{.*}}: index, %{{.*}}: i32, %{{.*}}: i32):
// CHECK:           arith.mulf %[[P]], %[[M]]
func.func @dropout(%q: tensor<?x8xf32>, %k: tensor<?x8xf32>, %v: tensor<?x6xf32>, %drop: tensor<?x?xf32>) -> tensor<?x6xf32> {
  %c0 = arith.constant 0 : index
  %zero = arith.constant 0.0 : f32
  %n = tensor.dim %q, %c0 : tensor<?x8xf32>
  %m = tensor.dim %k, %c0 : tensor<?x8xf32>
  %es = tensor.empty(%n, %m) : tensor<?x?xf32>
  %zs = linalg.fill ins(%zero : f32) outs(%es : tensor<?x?xf32>) -> tensor<?x?xf32>
  %s = linalg.contract indexing_maps = [#q, #k, #s] ins(%q, %k : tensor<?x8xf32>, tensor<?x8xf32>) outs(%zs : tensor<?x?xf32>) -> tensor<?x?xf32>
  %p = linalg.softmax dimension(1) ins(%s : tensor<?x?xf32>) outs(%es : tensor<?x?xf32>) -> tensor<?x?xf32>
  %w = linalg.generic {indexing_maps = [#id, #id, #id], iterator_types = ["parallel", "parallel"]} ins(%p, %drop : tensor<?x?xf32>, tensor<?x?xf32>) outs(%es : tensor<?x?xf32>) {
  ^bb0(%a: f32, %d: f32, %unused: f32):
    %scale = arith.constant 1.25 : f32
    %z = arith.mulf %a, %d : f32
    %r = arith.mulf %z, %scale : f32
    linalg.yield %r : f32
  } -> tensor<?x?xf32>
  %eo = tensor.empty(%n) : tensor<?x6xf32>
  %zo = linalg.fill ins(%zero : f32) outs(%eo : tensor<?x6xf32>) -> tensor<?x6xf32>
  %o = linalg.contract indexing_maps = [#p, #v, #o] ins(%w, %v : tensor<?x?xf32>, tensor<?x6xf32>) outs(%zo : tensor<?x6xf32>) -> tensor<?x6xf32>
  return %o : tensor<?x6xf32>
}
