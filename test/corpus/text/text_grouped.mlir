// RUN: fovea-opt --verify-roundtrip %s -o /dev/null

// Three query heads for each key head, the groups an axis of their own; nothing is repeated.

#q = affine_map<(b, k, g, i, j, d) -> (b, i, k, g, d)>
#k = affine_map<(b, k, g, i, j, d) -> (b, j, k, d)>
#s = affine_map<(b, k, g, i, j, d) -> (b, k, g, i, j)>

func.func @forward(%q: tensor<?x?x2x3x8xf32> {fovea.name = "q", fovea.dims = ["batch", "queries"]},
                   %k: tensor<?x?x2x8xf32> {fovea.name = "k", fovea.dims = ["batch", "keys"]},
                   %v: tensor<?x?x2x8xf32> {fovea.name = "v", fovea.dims = ["batch", "keys"]})
    -> (tensor<?x?x2x3x8xf32> {fovea.name = "output", fovea.dims = ["batch", "queries"]})
    attributes {fovea.entry} {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %zero = arith.constant 0.0 : f32
  %batch = tensor.dim %q, %c0 : tensor<?x?x2x3x8xf32>
  %queries = tensor.dim %q, %c1 : tensor<?x?x2x3x8xf32>
  %keys = tensor.dim %k, %c1 : tensor<?x?x2x8xf32>
  %scores_empty = tensor.empty(%batch, %queries, %keys) : tensor<?x2x3x?x?xf32>
  %scores_zero = linalg.fill ins(%zero : f32) outs(%scores_empty : tensor<?x2x3x?x?xf32>) -> tensor<?x2x3x?x?xf32>
  %scores = linalg.contract indexing_maps = [#q, #k, #s]
      ins(%q, %k : tensor<?x?x2x3x8xf32>, tensor<?x?x2x8xf32>) outs(%scores_zero : tensor<?x2x3x?x?xf32>) -> tensor<?x2x3x?x?xf32>
  %p = linalg.softmax dimension(4) ins(%scores : tensor<?x2x3x?x?xf32>) outs(%scores_empty : tensor<?x2x3x?x?xf32>) -> tensor<?x2x3x?x?xf32>
  %out_empty = tensor.empty(%batch, %queries) : tensor<?x?x2x3x8xf32>
  %out_zero = linalg.fill ins(%zero : f32) outs(%out_empty : tensor<?x?x2x3x8xf32>) -> tensor<?x?x2x3x8xf32>
  %out = linalg.contract indexing_maps = [#s, #k, #q]
      ins(%p, %v : tensor<?x2x3x?x?xf32>, tensor<?x?x2x8xf32>) outs(%out_zero : tensor<?x?x2x3x8xf32>) -> tensor<?x?x2x3x8xf32>
  return %out : tensor<?x?x2x3x8xf32>
}
