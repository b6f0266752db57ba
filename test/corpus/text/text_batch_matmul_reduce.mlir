// RUN: fovea-opt --verify-roundtrip %s -o /dev/null

// Batch products, linalg.reduce for maximum and sum, linalg.broadcast, and arith on whole tensors.

func.func @forward(%q: tensor<?x?x8xf32> {fovea.name = "q", fovea.dims = ["batch", "queries"]},
                   %k: tensor<?x?x8xf32> {fovea.name = "k", fovea.dims = ["batch", "keys"]},
                   %v: tensor<?x?x8xf32> {fovea.name = "v", fovea.dims = ["batch", "keys"]})
    -> (tensor<?x?x8xf32> {fovea.name = "output", fovea.dims = ["batch", "queries"]})
    attributes {fovea.entry} {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %zero = arith.constant 0.0 : f32
  %lowest = arith.constant 0xFF800000 : f32
  %batch = tensor.dim %q, %c0 : tensor<?x?x8xf32>
  %queries = tensor.dim %q, %c1 : tensor<?x?x8xf32>
  %keys = tensor.dim %k, %c1 : tensor<?x?x8xf32>
  %turned_empty = tensor.empty(%batch, %keys) : tensor<?x8x?xf32>
  %turned = linalg.transpose ins(%k : tensor<?x?x8xf32>) outs(%turned_empty : tensor<?x8x?xf32>) permutation = [0, 2, 1]
  %scores_empty = tensor.empty(%batch, %queries, %keys) : tensor<?x?x?xf32>
  %scores_zero = linalg.fill ins(%zero : f32) outs(%scores_empty : tensor<?x?x?xf32>) -> tensor<?x?x?xf32>
  %scores = linalg.batch_matmul ins(%q, %turned : tensor<?x?x8xf32>, tensor<?x8x?xf32>) outs(%scores_zero : tensor<?x?x?xf32>) -> tensor<?x?x?xf32>
  %rows_empty = tensor.empty(%batch, %queries) : tensor<?x?xf32>
  %rows_lowest = linalg.fill ins(%lowest : f32) outs(%rows_empty : tensor<?x?xf32>) -> tensor<?x?xf32>
  %top = linalg.reduce { arith.maximumf } ins(%scores : tensor<?x?x?xf32>) outs(%rows_lowest : tensor<?x?xf32>) dimensions = [2]
  %tops = linalg.broadcast ins(%top : tensor<?x?xf32>) outs(%scores_empty : tensor<?x?x?xf32>) dimensions = [2]
  %shifted = arith.subf %scores, %tops : tensor<?x?x?xf32>
  %e = math.exp %shifted : tensor<?x?x?xf32>
  %rows_zero = linalg.fill ins(%zero : f32) outs(%rows_empty : tensor<?x?xf32>) -> tensor<?x?xf32>
  %sum = linalg.reduce { arith.addf } ins(%e : tensor<?x?x?xf32>) outs(%rows_zero : tensor<?x?xf32>) dimensions = [2]
  %sums = linalg.broadcast ins(%sum : tensor<?x?xf32>) outs(%scores_empty : tensor<?x?x?xf32>) dimensions = [2]
  %p = arith.divf %e, %sums : tensor<?x?x?xf32>
  %out_empty = tensor.empty(%batch, %queries) : tensor<?x?x8xf32>
  %out_zero = linalg.fill ins(%zero : f32) outs(%out_empty : tensor<?x?x8xf32>) -> tensor<?x?x8xf32>
  %out = linalg.batch_matmul ins(%p, %v : tensor<?x?x?xf32>, tensor<?x?x8xf32>) outs(%out_zero : tensor<?x?x8xf32>) -> tensor<?x?x8xf32>
  return %out : tensor<?x?x8xf32>
}
