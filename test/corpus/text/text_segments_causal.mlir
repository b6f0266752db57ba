// RUN: fovea-opt --verify-roundtrip %s -o /dev/null

// Packed documents: a token sees earlier tokens of its own document; the mask is made first, as a tensor of booleans.

#q = affine_map<(b, h, i, j, d) -> (b, h, i, d)>
#k = affine_map<(b, h, i, j, d) -> (b, h, j, d)>
#s = affine_map<(b, h, i, j, d) -> (b, h, i, j)>
#id = affine_map<(b, h, i, j) -> (b, h, i, j)>
#si = affine_map<(b, i, j) -> (b, i)>
#sj = affine_map<(b, i, j) -> (b, j)>
#sij = affine_map<(b, i, j) -> (b, i, j)>
#m = affine_map<(b, h, i, j) -> (b, i, j)>

func.func @forward(%q: tensor<?x2x?x8xf32> {fovea.name = "q", fovea.dims = ["batch", "length"]},
                   %k: tensor<?x2x?x8xf32> {fovea.name = "k", fovea.dims = ["batch", "length"]},
                   %v: tensor<?x2x?x8xf32> {fovea.name = "v", fovea.dims = ["batch", "length"]},
                   %segment: tensor<?x?xi64> {fovea.name = "segment", fovea.dims = ["batch", "length"]})
    -> (tensor<?x2x?x8xf32> {fovea.name = "output", fovea.dims = ["batch", "length"]})
    attributes {fovea.entry} {
  %c0 = arith.constant 0 : index
  %c2 = arith.constant 2 : index
  %zero = arith.constant 0.0 : f32
  %batch = tensor.dim %q, %c0 : tensor<?x2x?x8xf32>
  %queries = tensor.dim %q, %c2 : tensor<?x2x?x8xf32>
  %keys = tensor.dim %k, %c2 : tensor<?x2x?x8xf32>
  %scores_empty = tensor.empty(%batch, %queries, %keys) : tensor<?x2x?x?xf32>
  %scores_zero = linalg.fill ins(%zero : f32) outs(%scores_empty : tensor<?x2x?x?xf32>) -> tensor<?x2x?x?xf32>
  %scores = linalg.contract indexing_maps = [#q, #k, #s]
      ins(%q, %k : tensor<?x2x?x8xf32>, tensor<?x2x?x8xf32>) outs(%scores_zero : tensor<?x2x?x?xf32>) -> tensor<?x2x?x?xf32>
  %mask_empty = tensor.empty(%batch, %queries, %keys) : tensor<?x?x?xi1>
  %mask = linalg.generic {indexing_maps = [#si, #sj, #sij], iterator_types = ["parallel", "parallel", "parallel"]}
      ins(%segment, %segment : tensor<?x?xi64>, tensor<?x?xi64>) outs(%mask_empty : tensor<?x?x?xi1>) {
  ^bb0(%a: i64, %b: i64, %unused: i1):
    %i = linalg.index 1 : index
    %j = linalg.index 2 : index
    %same = arith.cmpi eq, %a, %b : i64
    %before = arith.cmpi uge, %i, %j : index
    %y = arith.andi %same, %before : i1
    linalg.yield %y : i1
  } -> tensor<?x?x?xi1>
  %masked = linalg.generic {indexing_maps = [#id, #m, #id], iterator_types = ["parallel", "parallel", "parallel", "parallel"]}
      ins(%scores, %mask : tensor<?x2x?x?xf32>, tensor<?x?x?xi1>) outs(%scores_empty : tensor<?x2x?x?xf32>) {
  ^bb0(%a: f32, %b: i1, %unused: f32):
    %lowest = arith.constant 0xFF800000 : f32
    %y = arith.select %b, %a, %lowest : f32
    linalg.yield %y : f32
  } -> tensor<?x2x?x?xf32>
  %p = linalg.softmax dimension(3) ins(%masked : tensor<?x2x?x?xf32>) outs(%scores_empty : tensor<?x2x?x?xf32>) -> tensor<?x2x?x?xf32>
  %out_empty = tensor.empty(%batch, %queries) : tensor<?x2x?x8xf32>
  %out_zero = linalg.fill ins(%zero : f32) outs(%out_empty : tensor<?x2x?x8xf32>) -> tensor<?x2x?x8xf32>
  %out = linalg.contract indexing_maps = [#s, #k, #q]
      ins(%p, %v : tensor<?x2x?x?xf32>, tensor<?x2x?x8xf32>) outs(%out_zero : tensor<?x2x?x8xf32>) -> tensor<?x2x?x8xf32>
  return %out : tensor<?x2x?x8xf32>
}
