// RUN: fovea-opt --verify-roundtrip %s -o /dev/null

// The values are summed with plain exponentials, and the sum of these divides the result.

#q = affine_map<(b, h, i, j, d) -> (b, h, i, d)>
#k = affine_map<(b, h, i, j, d) -> (b, h, j, d)>
#s = affine_map<(b, h, i, j, d) -> (b, h, i, j)>
#id = affine_map<(b, h, i, j) -> (b, h, i, j)>
#row = affine_map<(b, h, i, j) -> (b, h, i)>
#orow = affine_map<(b, h, i, d) -> (b, h, i)>

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
  %scores_empty = tensor.empty(%batch, %queries, %keys) : tensor<?x2x?x?xf32>
  %scores_zero = linalg.fill ins(%zero : f32) outs(%scores_empty : tensor<?x2x?x?xf32>) -> tensor<?x2x?x?xf32>
  %scores = linalg.contract indexing_maps = [#q, #k, #s]
      ins(%q, %k : tensor<?x2x?x8xf32>, tensor<?x2x?x8xf32>) outs(%scores_zero : tensor<?x2x?x?xf32>) -> tensor<?x2x?x?xf32>
  %lowest = arith.constant 0xFF800000 : f32
  %rows_empty = tensor.empty(%batch, %queries) : tensor<?x2x?xf32>
  %rows_lowest = linalg.fill ins(%lowest : f32) outs(%rows_empty : tensor<?x2x?xf32>) -> tensor<?x2x?xf32>
  %top = linalg.generic {indexing_maps = [#id, #row], iterator_types = ["parallel", "parallel", "parallel", "reduction"]}
      ins(%scores : tensor<?x2x?x?xf32>) outs(%rows_lowest : tensor<?x2x?xf32>) {
  ^bb0(%a: f32, %m: f32):
    %y = arith.maximumf %a, %m : f32
    linalg.yield %y : f32
  } -> tensor<?x2x?xf32>
  %e = linalg.generic {indexing_maps = [#id, #row, #id], iterator_types = ["parallel", "parallel", "parallel", "parallel"]}
      ins(%scores, %top : tensor<?x2x?x?xf32>, tensor<?x2x?xf32>) outs(%scores_empty : tensor<?x2x?x?xf32>) {
  ^bb0(%a: f32, %b: f32, %unused: f32):
    %s = arith.subf %a, %b : f32
    %y = math.exp %s : f32
    linalg.yield %y : f32
  } -> tensor<?x2x?x?xf32>
  %rows_zero = linalg.fill ins(%zero : f32) outs(%rows_empty : tensor<?x2x?xf32>) -> tensor<?x2x?xf32>
  %sum = linalg.generic {indexing_maps = [#id, #row], iterator_types = ["parallel", "parallel", "parallel", "reduction"]}
      ins(%e : tensor<?x2x?x?xf32>) outs(%rows_zero : tensor<?x2x?xf32>) {
  ^bb0(%a: f32, %m: f32):
    %y = arith.addf %m, %a : f32
    linalg.yield %y : f32
  } -> tensor<?x2x?xf32>
  %out_empty = tensor.empty(%batch, %queries) : tensor<?x2x?x8xf32>
  %out_zero = linalg.fill ins(%zero : f32) outs(%out_empty : tensor<?x2x?x8xf32>) -> tensor<?x2x?x8xf32>
  %out = linalg.contract indexing_maps = [#s, #k, #q]
      ins(%e, %v : tensor<?x2x?x?xf32>, tensor<?x2x?x8xf32>) outs(%out_zero : tensor<?x2x?x8xf32>) -> tensor<?x2x?x8xf32>
  %quotient = linalg.generic {indexing_maps = [#id, #orow, #id], iterator_types = ["parallel", "parallel", "parallel", "parallel"]}
      ins(%out, %sum : tensor<?x2x?x8xf32>, tensor<?x2x?xf32>) outs(%out_empty : tensor<?x2x?x8xf32>) {
  ^bb0(%a: f32, %b: f32, %unused: f32):
    %y = arith.divf %a, %b : f32
    linalg.yield %y : f32
  } -> tensor<?x2x?x8xf32>
  return %quotient : tensor<?x2x?x8xf32>
}
