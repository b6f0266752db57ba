// RUN: fovea-opt %s --fovea-raise-attention --canonicalize --cse | FileCheck %s

// With a thousand keys most probabilities are below the threshold. It is a function of the one probability, kept as
// the op's probability region.

#q = affine_map<(i, j, d) -> (i, d)>
#k = affine_map<(i, j, d) -> (j, d)>
#s = affine_map<(i, j, d) -> (i, j)>
#p = affine_map<(i, d, j) -> (i, j)>
#v = affine_map<(i, d, j) -> (j, d)>
#o = affine_map<(i, d, j) -> (i, d)>
#id = affine_map<(i, j) -> (i, j)>

// CHECK-LABEL: @threshold
// CHECK-NOT:     linalg.softmax
// CHECK:         fovea.attention {{.*}} probability {
// CHECK-NEXT:    ^bb0(%[[P:.*]]: f32, %{{.*}}: index, %{{.*}}: index, %{{.*}}: i32, %{{.*}}: i32):
// CHECK:           %[[C:.*]] = arith.cmpf olt, %[[P]], %{{.*}}
// CHECK:           %[[W:.*]] = arith.select %[[C]], %{{.*}}, %[[P]]
// CHECK:           fovea.yield %[[W]]
func.func @threshold(%q: tensor<?x8xf32>, %k: tensor<?x8xf32>, %v: tensor<?x6xf32>) -> tensor<?x6xf32> {
  %c0 = arith.constant 0 : index
  %zero = arith.constant 0.0 : f32
  %n = tensor.dim %q, %c0 : tensor<?x8xf32>
  %m = tensor.dim %k, %c0 : tensor<?x8xf32>
  %es = tensor.empty(%n, %m) : tensor<?x?xf32>
  %zs = linalg.fill ins(%zero : f32) outs(%es : tensor<?x?xf32>) -> tensor<?x?xf32>
  %s = linalg.contract indexing_maps = [#q, #k, #s] ins(%q, %k : tensor<?x8xf32>, tensor<?x8xf32>) outs(%zs : tensor<?x?xf32>) -> tensor<?x?xf32>
  %p = linalg.softmax dimension(1) ins(%s : tensor<?x?xf32>) outs(%es : tensor<?x?xf32>) -> tensor<?x?xf32>
  %w = linalg.generic {indexing_maps = [#id, #id], iterator_types = ["parallel", "parallel"]} ins(%p : tensor<?x?xf32>) outs(%es : tensor<?x?xf32>) {
  ^bb0(%a: f32, %unused: f32):
    %none = arith.constant 0.0 : f32
    %least = arith.constant 0.001 : f32
    %c = arith.cmpf olt, %a, %least : f32
    %r = arith.select %c, %none, %a : f32
    linalg.yield %r : f32
  } -> tensor<?x?xf32>
  %eo = tensor.empty(%n) : tensor<?x6xf32>
  %zo = linalg.fill ins(%zero : f32) outs(%eo : tensor<?x6xf32>) -> tensor<?x6xf32>
  %o = linalg.contract indexing_maps = [#p, #v, #o] ins(%w, %v : tensor<?x?xf32>, tensor<?x6xf32>) outs(%zo : tensor<?x6xf32>) -> tensor<?x6xf32>
  return %o : tensor<?x6xf32>
}
