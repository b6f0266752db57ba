// RUN: fovea-opt --verify-roundtrip %s -o /dev/null

// Heads stay behind the length; keys after the query are -infinity, by comparing indices.

#q = affine_map<(b, h, i, j, d) -> (b, i, h, d)>
#k = affine_map<(b, h, i, j, d) -> (b, j, h, d)>
#s = affine_map<(b, h, i, j, d) -> (b, h, i, j)>
#id = affine_map<(b, h, i, j) -> (b, h, i, j)>

func.func @forward(%q: tensor<?x?x2x8xf32> {fovea.name = "q", fovea.dims = ["batch", "length"]},
                   %k: tensor<?x?x2x8xf32> {fovea.name = "k", fovea.dims = ["batch", "length"]},
                   %v: tensor<?x?x2x8xf32> {fovea.name = "v", fovea.dims = ["batch", "length"]})
    -> (tensor<?x?x2x8xf32> {fovea.name = "output", fovea.dims = ["batch", "length"]})
    attributes {fovea.entry} {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %zero = arith.constant 0.0 : f32
  %batch = tensor.dim %q, %c0 : tensor<?x?x2x8xf32>
  %length = tensor.dim %q, %c1 : tensor<?x?x2x8xf32>
  %scores_empty = tensor.empty(%batch, %length, %length) : tensor<?x2x?x?xf32>
  %scores_zero = linalg.fill ins(%zero : f32) outs(%scores_empty : tensor<?x2x?x?xf32>) -> tensor<?x2x?x?xf32>
  %scores = linalg.contract indexing_maps = [#q, #k, #s]
      ins(%q, %k : tensor<?x?x2x8xf32>, tensor<?x?x2x8xf32>) outs(%scores_zero : tensor<?x2x?x?xf32>) -> tensor<?x2x?x?xf32>
  %masked = linalg.generic {indexing_maps = [#id, #id], iterator_types = ["parallel", "parallel", "parallel", "parallel"]}
      ins(%scores : tensor<?x2x?x?xf32>) outs(%scores_empty : tensor<?x2x?x?xf32>) {
  ^bb0(%a: f32, %unused: f32):
    %scale = arith.constant 0.35 : f32
    %lowest = arith.constant 0xFF800000 : f32
    %i = linalg.index 2 : index
    %j = linalg.index 3 : index
    %allowed = arith.cmpi sle, %j, %i : index
    %x = arith.mulf %a, %scale : f32
    %y = arith.select %allowed, %x, %lowest : f32
    linalg.yield %y : f32
  } -> tensor<?x2x?x?xf32>
  %p = linalg.softmax dimension(3) ins(%masked : tensor<?x2x?x?xf32>) outs(%scores_empty : tensor<?x2x?x?xf32>) -> tensor<?x2x?x?xf32>
  %out_empty = tensor.empty(%batch, %length) : tensor<?x?x2x8xf32>
  %out_zero = linalg.fill ins(%zero : f32) outs(%out_empty : tensor<?x?x2x8xf32>) -> tensor<?x?x2x8xf32>
  %out = linalg.contract indexing_maps = [#s, #k, #q]
      ins(%p, %v : tensor<?x2x?x?xf32>, tensor<?x?x2x8xf32>) outs(%out_zero : tensor<?x?x2x8xf32>) -> tensor<?x?x2x8xf32>
  return %out : tensor<?x?x2x8xf32>
}
