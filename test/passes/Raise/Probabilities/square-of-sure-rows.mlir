// RUN: fovea-opt %s --fovea-raise-attention --canonicalize --cse | FileCheck %s

// Which is chosen depends on the row's greatest probability: this sees other keys, so it is no attention.

#q = affine_map<(i, j, d) -> (i, d)>
#k = affine_map<(i, j, d) -> (j, d)>
#s = affine_map<(i, j, d) -> (i, j)>
#p = affine_map<(i, d, j) -> (i, j)>
#v = affine_map<(i, d, j) -> (j, d)>
#o = affine_map<(i, d, j) -> (i, d)>
#id = affine_map<(i, j) -> (i, j)>
#row = affine_map<(i, j) -> (i)>

// CHECK-LABEL: @square_of_sure_rows
// CHECK-NOT:     fovea.attention
// CHECK:         linalg.softmax
func.func @square_of_sure_rows(%q: tensor<?x8xf32>, %k: tensor<?x8xf32>, %v: tensor<?x6xf32>) -> tensor<?x6xf32> {
  %c0 = arith.constant 0 : index
  %zero = arith.constant 0.0 : f32
  %n = tensor.dim %q, %c0 : tensor<?x8xf32>
  %m = tensor.dim %k, %c0 : tensor<?x8xf32>
  %es = tensor.empty(%n, %m) : tensor<?x?xf32>
  %zs = linalg.fill ins(%zero : f32) outs(%es : tensor<?x?xf32>) -> tensor<?x?xf32>
  %s = linalg.contract indexing_maps = [#q, #k, #s] ins(%q, %k : tensor<?x8xf32>, tensor<?x8xf32>) outs(%zs : tensor<?x?xf32>) -> tensor<?x?xf32>
  %p = linalg.softmax dimension(1) ins(%s : tensor<?x?xf32>) outs(%es : tensor<?x?xf32>) -> tensor<?x?xf32>
  %etop = tensor.empty(%n) : tensor<?xf32>
  %starttop = arith.constant 0xFF800000 : f32
  %ftop = linalg.fill ins(%starttop : f32) outs(%etop : tensor<?xf32>) -> tensor<?xf32>
  %top = linalg.reduce { arith.maximumf } ins(%p : tensor<?x?xf32>) outs(%ftop : tensor<?xf32>) dimensions = [1]
  %w = linalg.generic {indexing_maps = [#id, #row, #id], iterator_types = ["parallel", "parallel"]} ins(%p, %top : tensor<?x?xf32>, tensor<?xf32>) outs(%es : tensor<?x?xf32>) {
  ^bb0(%a: f32, %high: f32, %unused: f32):
    %most = arith.constant 0.95 : f32
    %c = arith.cmpf ogt, %high, %most : f32
    %square = arith.mulf %a, %a : f32
    %r = arith.select %c, %square, %a : f32
    linalg.yield %r : f32
  } -> tensor<?x?xf32>
  %eo = tensor.empty(%n) : tensor<?x6xf32>
  %zo = linalg.fill ins(%zero : f32) outs(%eo : tensor<?x6xf32>) -> tensor<?x6xf32>
  %o = linalg.contract indexing_maps = [#p, #v, #o] ins(%w, %v : tensor<?x?xf32>, tensor<?x6xf32>) outs(%zo : tensor<?x6xf32>) -> tensor<?x6xf32>
  return %o : tensor<?x6xf32>
}
