// RUN: fovea-opt --verify-roundtrip %s -o /dev/null

// Keys at most two before and one behind the query, others are replaced by -1e9.

#q = affine_map<(b, h, i, j, d) -> (b, h, i, d)>
#k = affine_map<(b, h, i, j, d) -> (b, h, j, d)>
#s = affine_map<(b, h, i, j, d) -> (b, h, i, j)>
#id = affine_map<(b, h, i, j) -> (b, h, i, j)>

func.func @forward(%q: tensor<?x2x?x8xf32> {fovea.name = "q", fovea.dims = ["batch", "length"]},
                   %k: tensor<?x2x?x8xf32> {fovea.name = "k", fovea.dims = ["batch", "length"]},
                   %v: tensor<?x2x?x8xf32> {fovea.name = "v", fovea.dims = ["batch", "length"]})
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
  %masked = linalg.generic {indexing_maps = [#id, #id], iterator_types = ["parallel", "parallel", "parallel", "parallel"]}
      ins(%scores : tensor<?x2x?x?xf32>) outs(%scores_empty : tensor<?x2x?x?xf32>) {
  ^bb0(%a: f32, %unused: f32):
    %low = arith.constant -1.0e+09 : f32
    %left = arith.constant 2 : i32
    %right = arith.constant -1 : i32
    %i = linalg.index 2 : index
    %j = linalg.index 3 : index
    %i32 = arith.index_cast %i : index to i32
    %j32 = arith.index_cast %j : index to i32
    %distance = arith.subi %i32, %j32 : i32
    %near = arith.cmpi sle, %distance, %left : i32
    %not_far = arith.cmpi sge, %distance, %right : i32
    %allowed = arith.andi %near, %not_far : i1
    %y = arith.select %allowed, %a, %low : f32
    linalg.yield %y : f32
  } -> tensor<?x2x?x?xf32>
  %p = linalg.softmax dimension(3) ins(%masked : tensor<?x2x?x?xf32>) outs(%scores_empty : tensor<?x2x?x?xf32>) -> tensor<?x2x?x?xf32>
  %out_empty = tensor.empty(%batch, %queries) : tensor<?x2x?x8xf32>
  %out_zero = linalg.fill ins(%zero : f32) outs(%out_empty : tensor<?x2x?x8xf32>) -> tensor<?x2x?x8xf32>
  %out = linalg.contract indexing_maps = [#s, #k, #q]
      ins(%p, %v : tensor<?x2x?x?xf32>, tensor<?x2x?x8xf32>) outs(%out_zero : tensor<?x2x?x8xf32>) -> tensor<?x2x?x8xf32>
  return %out : tensor<?x2x?x8xf32>
}
