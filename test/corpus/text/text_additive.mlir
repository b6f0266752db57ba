// RUN: fovea-opt --verify-roundtrip %s -o /dev/null

// Additive scores, the sum over d of w_d tanh(q_d + k_d), as one generic with a reduction.

#q = affine_map<(b, i, j, d) -> (b, i, d)>
#k = affine_map<(b, i, j, d) -> (b, j, d)>
#w = affine_map<(b, i, j, d) -> (d)>
#s = affine_map<(b, i, j, d) -> (b, i, j)>

func.func @forward(%q: tensor<?x?x8xf32> {fovea.name = "q", fovea.dims = ["batch", "queries"]},
                   %k: tensor<?x?x8xf32> {fovea.name = "k", fovea.dims = ["batch", "keys"]},
                   %v: tensor<?x?x8xf32> {fovea.name = "v", fovea.dims = ["batch", "keys"]},
                   %w: tensor<8xf32> {fovea.name = "w"})
    -> (tensor<?x?x8xf32> {fovea.name = "output", fovea.dims = ["batch", "queries"]})
    attributes {fovea.entry} {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %zero = arith.constant 0.0 : f32
  %batch = tensor.dim %q, %c0 : tensor<?x?x8xf32>
  %queries = tensor.dim %q, %c1 : tensor<?x?x8xf32>
  %keys = tensor.dim %k, %c1 : tensor<?x?x8xf32>
  %scores_empty = tensor.empty(%batch, %queries, %keys) : tensor<?x?x?xf32>
  %scores_zero = linalg.fill ins(%zero : f32) outs(%scores_empty : tensor<?x?x?xf32>) -> tensor<?x?x?xf32>
  %scores = linalg.generic {indexing_maps = [#q, #k, #w, #s], iterator_types = ["parallel", "parallel", "parallel", "reduction"]}
      ins(%q, %k, %w : tensor<?x?x8xf32>, tensor<?x?x8xf32>, tensor<8xf32>) outs(%scores_zero : tensor<?x?x?xf32>) {
  ^bb0(%a: f32, %b: f32, %c: f32, %acc: f32):
    %x = arith.addf %a, %b : f32
    %t = math.tanh %x : f32
    %wt = arith.mulf %t, %c : f32
    %y = arith.addf %acc, %wt : f32
    linalg.yield %y : f32
  } -> tensor<?x?x?xf32>
  %p = linalg.softmax dimension(2) ins(%scores : tensor<?x?x?xf32>) outs(%scores_empty : tensor<?x?x?xf32>) -> tensor<?x?x?xf32>
  %out_empty = tensor.empty(%batch, %queries) : tensor<?x?x8xf32>
  %out_zero = linalg.fill ins(%zero : f32) outs(%out_empty : tensor<?x?x8xf32>) -> tensor<?x?x8xf32>
  %out = linalg.contract indexing_maps = [#s, #k, #q]
      ins(%p, %v : tensor<?x?x?xf32>, tensor<?x?x8xf32>) outs(%out_zero : tensor<?x?x8xf32>) -> tensor<?x?x8xf32>
  return %out : tensor<?x?x8xf32>
}
