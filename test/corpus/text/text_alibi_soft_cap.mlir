// RUN: fovea-opt --verify-roundtrip %s -o /dev/null

// The scores are capped by tanh, then get a slope for each head times the distance; two slopes as a constant.

#q = affine_map<(b, h, i, j, d) -> (b, h, i, d)>
#k = affine_map<(b, h, i, j, d) -> (b, h, j, d)>
#s = affine_map<(b, h, i, j, d) -> (b, h, i, j)>
#id = affine_map<(b, h, i, j) -> (b, h, i, j)>
#head = affine_map<(b, h, i, j) -> (h)>

func.func @forward(%q: tensor<?x2x?x8xf32> {fovea.name = "q", fovea.dims = ["batch", "queries"]},
                   %k: tensor<?x2x?x8xf32> {fovea.name = "k", fovea.dims = ["batch", "keys"]},
                   %v: tensor<?x2x?x8xf32> {fovea.name = "v", fovea.dims = ["batch", "keys"]})
    -> (tensor<?x2x?x8xf32> {fovea.name = "output", fovea.dims = ["batch", "queries"]})
    attributes {fovea.entry} {
  %c0 = arith.constant 0 : index
  %c2 = arith.constant 2 : index
  %zero = arith.constant 0.0 : f32
  %batch = tensor.dim %q, %c0 : tensor<?x2x?x8xf32>
  %queries = tensor.dim %q, %c2 : tensor<?x2x?x8xf32>
  %keys = tensor.dim %k, %c2 : tensor<?x2x?x8xf32>
  %slopes = arith.constant dense<[0.5, 0.125]> : tensor<2xf32>
  %scores_empty = tensor.empty(%batch, %queries, %keys) : tensor<?x2x?x?xf32>
  %scores_zero = linalg.fill ins(%zero : f32) outs(%scores_empty : tensor<?x2x?x?xf32>) -> tensor<?x2x?x?xf32>
  %scores = linalg.contract indexing_maps = [#q, #k, #s]
      ins(%q, %k : tensor<?x2x?x8xf32>, tensor<?x2x?x8xf32>) outs(%scores_zero : tensor<?x2x?x?xf32>) -> tensor<?x2x?x?xf32>
  %biased = linalg.generic {indexing_maps = [#id, #head, #id], iterator_types = ["parallel", "parallel", "parallel", "parallel"]}
      ins(%scores, %slopes : tensor<?x2x?x?xf32>, tensor<2xf32>) outs(%scores_empty : tensor<?x2x?x?xf32>) {
  ^bb0(%a: f32, %b: f32, %unused: f32):
    %cap = arith.constant 4.0 : f32
    %r = arith.divf %a, %cap : f32
    %t = math.tanh %r : f32
    %capped = arith.mulf %t, %cap : f32
    %i = linalg.index 2 : index
    %j = linalg.index 3 : index
    %distance = arith.subi %j, %i : index
    %d32 = arith.index_cast %distance : index to i32
    %d = arith.sitofp %d32 : i32 to f32
    %slope = arith.mulf %b, %d : f32
    %y = arith.addf %capped, %slope : f32
    linalg.yield %y : f32
  } -> tensor<?x2x?x?xf32>
  %p = linalg.softmax dimension(3) ins(%biased : tensor<?x2x?x?xf32>) outs(%scores_empty : tensor<?x2x?x?xf32>) -> tensor<?x2x?x?xf32>
  %out_empty = tensor.empty(%batch, %queries) : tensor<?x2x?x8xf32>
  %out_zero = linalg.fill ins(%zero : f32) outs(%out_empty : tensor<?x2x?x8xf32>) -> tensor<?x2x?x8xf32>
  %out = linalg.contract indexing_maps = [#s, #k, #q]
      ins(%p, %v : tensor<?x2x?x?xf32>, tensor<?x2x?x8xf32>) outs(%out_zero : tensor<?x2x?x8xf32>) -> tensor<?x2x?x8xf32>
  return %out : tensor<?x2x?x8xf32>
}
