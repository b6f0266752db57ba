// RUN: fovea-opt --verify-roundtrip %s -o /dev/null

// The keys of each text end at its length; a text of length zero gives the mean of its values.

#q = affine_map<(b, h, i, j, d) -> (b, h, i, d)>
#k = affine_map<(b, h, i, j, d) -> (b, h, j, d)>
#s = affine_map<(b, h, i, j, d) -> (b, h, i, j)>
#id = affine_map<(b, h, i, j) -> (b, h, i, j)>
#len = affine_map<(b, h, i, j) -> (b)>

func.func @forward(%q: tensor<?x2x?x8xf32> {fovea.name = "q", fovea.dims = ["batch", "queries"]},
                   %k: tensor<?x2x?x8xf32> {fovea.name = "k", fovea.dims = ["batch", "keys"]},
                   %v: tensor<?x2x?x8xf32> {fovea.name = "v", fovea.dims = ["batch", "keys"]},
                   %lengths: tensor<?xi64> {fovea.name = "lengths", fovea.dims = ["batch"]})
    -> (tensor<?x2x?x8xf32> {fovea.name = "output", fovea.dims = ["batch", "queries"]})
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
  %masked = linalg.generic {indexing_maps = [#id, #len, #id], iterator_types = ["parallel", "parallel", "parallel", "parallel"]}
      ins(%scores, %lengths : tensor<?x2x?x?xf32>, tensor<?xi64>) outs(%scores_empty : tensor<?x2x?x?xf32>) {
  ^bb0(%a: f32, %b: i64, %unused: f32):
    %low = arith.constant -1.0e+20 : f32
    %scale = arith.constant 0.35 : f32
    %j = linalg.index 3 : index
    %j64 = arith.index_cast %j : index to i64
    %hidden = arith.cmpi sge, %j64, %b : i64
    %x = arith.mulf %a, %scale : f32
    %y = arith.select %hidden, %low, %x : f32
    linalg.yield %y : f32
  } -> tensor<?x2x?x?xf32>
  %p = linalg.softmax dimension(3) ins(%masked : tensor<?x2x?x?xf32>) outs(%scores_empty : tensor<?x2x?x?xf32>) -> tensor<?x2x?x?xf32>
  %out_empty = tensor.empty(%batch, %queries) : tensor<?x2x?x8xf32>
  %out_zero = linalg.fill ins(%zero : f32) outs(%out_empty : tensor<?x2x?x8xf32>) -> tensor<?x2x?x8xf32>
  %out = linalg.contract indexing_maps = [#s, #k, #q]
      ins(%p, %v : tensor<?x2x?x?xf32>, tensor<?x2x?x8xf32>) outs(%out_zero : tensor<?x2x?x8xf32>) -> tensor<?x2x?x8xf32>
  return %out : tensor<?x2x?x8xf32>
}
