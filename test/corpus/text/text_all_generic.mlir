// RUN: fovea-opt --verify-roundtrip %s -o /dev/null

// Everything as linalg.generic: the products, the maximum, exp, the sum, the quotient; the scale stands inside the first product.

#q = affine_map<(b, h, i, j, d) -> (b, h, i, d)>
#k = affine_map<(b, h, i, j, d) -> (b, h, j, d)>
#s = affine_map<(b, h, i, j, d) -> (b, h, i, j)>
#p = affine_map<(b, h, i, d, j) -> (b, h, i, j)>
#v = affine_map<(b, h, i, d, j) -> (b, h, j, d)>
#o = affine_map<(b, h, i, d, j) -> (b, h, i, d)>
#id = affine_map<(b, h, i, j) -> (b, h, i, j)>
#row = affine_map<(b, h, i, j) -> (b, h, i)>

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
  %scores = linalg.generic {indexing_maps = [#q, #k, #s], iterator_types = ["parallel", "parallel", "parallel", "parallel", "reduction"]}
      ins(%q, %k : tensor<?x2x?x8xf32>, tensor<?x2x?x8xf32>) outs(%scores_zero : tensor<?x2x?x?xf32>) {
  ^bb0(%a: f32, %b: f32, %acc: f32):
    %scale = arith.constant 0.35 : f32
    %x = arith.mulf %a, %b : f32
    %scaled = arith.mulf %x, %scale : f32
    %y = arith.addf %acc, %scaled : f32
    linalg.yield %y : f32
  } -> tensor<?x2x?x?xf32>
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
  %p = linalg.generic {indexing_maps = [#id, #row, #id], iterator_types = ["parallel", "parallel", "parallel", "parallel"]}
      ins(%e, %sum : tensor<?x2x?x?xf32>, tensor<?x2x?xf32>) outs(%scores_empty : tensor<?x2x?x?xf32>) {
  ^bb0(%a: f32, %b: f32, %unused: f32):
    %y = arith.divf %a, %b : f32
    linalg.yield %y : f32
  } -> tensor<?x2x?x?xf32>
  %out_empty = tensor.empty(%batch, %queries) : tensor<?x2x?x8xf32>
  %out_zero = linalg.fill ins(%zero : f32) outs(%out_empty : tensor<?x2x?x8xf32>) -> tensor<?x2x?x8xf32>
  %out = linalg.generic {indexing_maps = [#p, #v, #o], iterator_types = ["parallel", "parallel", "parallel", "parallel", "reduction"]}
      ins(%p, %v : tensor<?x2x?x?xf32>, tensor<?x2x?x8xf32>) outs(%out_zero : tensor<?x2x?x8xf32>) {
  ^bb0(%a: f32, %b: f32, %acc: f32):
    %x = arith.mulf %a, %b : f32
    %y = arith.addf %x, %acc : f32
    linalg.yield %y : f32
  } -> tensor<?x2x?x8xf32>
  return %out : tensor<?x2x?x8xf32>
}
